"""One Spark Connect server for the whole run: started in this process on a free loopback port, or somebody else's."""

import contextlib
import logging
import os
import secrets
import socket
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

# Set here, not in the pipeline: they make small runs fast, and none of them is kept in a checkpoint that outlives the run.
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.streaming.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.default.parallelism": "1",
    "spark.sql.session.timeZone": "UTC",
    # A flow that is refused fails once, not three times.
    "spark.sql.pipelines.maxFlowRetryAttempts": "0",
    # An update looks for flows that have ended at once, not a second later.
    "spark.sql.pipelines.execution.streamstate.pollingInterval": "0",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
}


# Of each session on a server that others have set up.
OF_SESSIONS = {
    name: SETTINGS[name]
    for name in (
        "spark.sql.shuffle.partitions",
        "spark.sql.session.timeZone",
        "spark.sql.pipelines.maxFlowRetryAttempts",
        "spark.sql.pipelines.execution.streamstate.pollingInterval",
    )
}


class Server:
    def __init__(self, request):
        self._context = None
        self.remote = request.get("remote")
        self._url = self._connect(self.remote) if self.remote else self._start(request)
        os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"
        # Schemas that this run has made: no other is ever written or dropped.
        self.schemas = []
        self.running = None
        self.admin = self.session()
        self.version = self.admin.version

    def _start(self, request):
        from pyspark import SparkConf, SparkContext
        from pyspark.sql import SparkSession

        work_folder = request["work_folder"]
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        os.environ["SPARK_CONNECT_AUTHENTICATE_TOKEN"] = secrets.token_hex(16)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        conf = SparkConf().setMaster("local[2]").setAppName("pipelint")
        conf.setAll(list(SETTINGS.items()))
        conf.set("spark.connect.grpc.binding.port", str(port))
        conf.set("spark.sql.warehouse.dir", os.path.join(work_folder, "warehouse"))
        conf.set("spark.local.dir", os.path.join(work_folder, "local"))
        conf.setAll(list(request.get("conf", {}).items()))
        self._context = SparkContext.getOrCreate(conf)
        self._context.setLogLevel("ERROR")
        SparkSession(self._context)
        # Only by this name does the client accept a token on an unencrypted channel.
        return f"sc://localhost:{port}"

    def _connect(self, remote):
        token = os.environ.pop("PIPELINT_SPARK_TOKEN", None)
        if token:
            os.environ["SPARK_CONNECT_AUTHENTICATE_TOKEN"] = token
        host, _, port = remote.split("://")[-1].split("/")[0].partition(":")
        try:
            # The client itself would try again for minutes.
            socket.create_connection((host, int(port or 15002)), timeout=10).close()
        except OSError as error:
            raise ConnectionError(f"no server answers at {host}:{port or 15002} ({error})") from None
        return remote

    def session(self):
        from pyspark.sql.connect.session import SparkSession

        session = SparkSession.builder.remote(self._url).create()
        for key, value in OF_SESSIONS.items() if self.remote else ():
            with contextlib.suppress(Exception):
                session.conf.set(key, value)
        return session

    def abandon(self):
        """Ends everything at once: the JVM of a local server; on a remote one what runs there, and the run's schemas."""
        if not self.remote:
            kill()
            return
        for session in (self.running, self.admin):
            with contextlib.suppress(Exception):
                session.interruptAll()
        with contextlib.suppress(Exception):
            self.admin = self.session()
            self.drop_schemas()

    def drop_schemas(self):
        for schema in self.schemas:
            with contextlib.suppress(Exception):
                self.admin.sql(f"DROP SCHEMA IF EXISTS `{schema}` CASCADE")

    def stop(self):
        self.drop_schemas()
        for stop in (self.admin.stop, self._context.stop if self._context else lambda: None):
            try:
                stop()
            except Exception:
                pass


def kill():
    """Ends the JVM of a local server at once."""
    try:
        from pyspark import SparkContext

        process = SparkContext._gateway.proc
        process.kill()
        process.wait(10)
    except Exception:
        pass
