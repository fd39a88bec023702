"""Runs pipelines on Apache Spark for pipelint.

JSON lines on standard input, JSON lines on standard output, one step a message. A reply holds `ok` or `error`; before it may
come `progress` (what is being done) and `ask` (a question that pipelint answers with one line). When standard input closes,
the server stops, the work folder goes and the process ends, whatever it was doing.
"""

import json
import os
import queue
import shutil
import sys
import threading

import failures
import server
import tables
import update


class Channel:
    """The two pipes to pipelint. What pipeline code prints goes to standard error."""

    def __init__(self):
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        self._lines = queue.Queue()
        self.work_folder = None
        self.server = None
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in sys.stdin:
            self._lines.put(line)
        # The JVM would end with this process, whose pipe it reads, but until then it writes into the folder.
        self.server.abandon() if self.server else server.kill()
        if self.work_folder:
            shutil.rmtree(self.work_folder, ignore_errors=True)
        os._exit(0)

    def receive(self):
        return json.loads(self._lines.get())

    def send(self, message):
        self._out.write(json.dumps(message) + "\n")
        self._out.flush()

    def progress(self, text):
        self.send({"progress": text})

    def ask(self, question):
        self.send({"ask": question})
        return self.receive()


def serve(channel):
    spark = None
    while True:
        request = channel.receive()
        step = request["step"]
        try:
            if step == "start":
                channel.work_folder = request.get("work_folder")
                spark = channel.server = server.Server(request)
                reply = {"version": spark.version}
            elif step == "stop":
                spark.stop()
                reply = {}
            elif step == "update":
                reply = update.update(spark, request, channel)
            else:
                reply = tables.STEPS[step](spark, request)
        except Exception as error:
            channel.send({"error": failures.described(error)})
            continue
        channel.send({"ok": reply})
        if step == "stop":
            return


if __name__ == "__main__":
    serve(Channel())
