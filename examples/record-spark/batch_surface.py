"""Batch jobs by combination: writer, table kind, mode, partitioning, presence, query, settings and style of writing.

    python3 examples/record-spark/batch_surface.py FILES ICEBERG

writes that many cases of each kind into `tests/cases/batch-surface`, for the recorder to run on Spark. The draw is seeded: the
same numbers give the same cases. Each case falls into one half at random, `build` or `blind`; figures are given for both.
"""
import json
import os
import random
import shutil
import sys

import yaml

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "cases", "batch-surface")
DAYS = ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]
DAY = DAYS[1]


class Draw:
    """One case: what is drawn for it, and the texts that come of it."""

    def __init__(self, seed, iceberg):
        self.at, self.iceberg = random.Random(f"batch-surface {iceberg} {seed}"), iceberg
        self.columns = [("id", "INT"), ("v", "STRING")] + ([("c", "STRING")] if self.one(0.2) else []) + [("d", "DATE")]
        names = [name for name, _ in self.columns]
        self.partitions = [] if self.one(0.25) else (["d", "c"] if "c" in names else ["d"])
        self.is_path = not iceberg and self.one(0.25)
        self.present = self.one(0.88)
        self.format = "iceberg" if iceberg else self.pick([("parquet", 7), ("orc", 2), ("json", 1)])
        self.target = "ice.db.events" if iceberg else "out/events" if self.is_path else "events"
        self.source = "ice.db.staging" if iceberg else "staging"
        self.arriving = self.pick([("same", 8), ("several", 1), ("new", 1)])
        self.words = [("ice" if iceberg else self.format), "path" if self.is_path else "table", "-".join(self.partitions) or "flat"]
        if not self.present:
            self.words.append("absent")

    def one(self, share):
        return self.at.random() < share

    def pick(self, weighted):
        values, weights = zip(*weighted)
        return self.at.choices(values, weights)[0]

    def rows(self, name):
        row = lambda key, day, new: {
            "id": key,
            "v": "abcdefghij"[key - 1] + ("2" if new else ""),
            **({"c": "xy"[key % 2]} if len(self.columns) == 4 else {}),
            "d": DAYS[day],
        }
        if name == "target":
            return [row(key, (key - 1) // 2, False) for key in range(1, 7)]
        days = {"same": [1], "several": [1, 3], "new": [3]}[self.arriving]
        return [row(key, day, day < 3) for day in days for key in (2 * day + 1, 2 * day + 2)]

    # What is written.

    def frame(self):
        """A DataFrame expression and its word."""
        source = f'spark.table("{self.source}")'
        target = f'spark.read.format("{self.format}").load("{self.target}")' if self.is_path else f'spark.table("{self.target}")'
        columns = ", ".join(f'"{name}"' for name, _ in self.columns)
        shuffled = ", ".join(f'"{name}"' for name, _ in reversed(self.columns))
        choices = [
            (("all", source), 10),
            (("day", f"{source}.where(\"d = '{DAY}'\")"), 3),
            (("dayof", f'{source}.filter(F.col("d") == F.lit(day).cast("date"))'), 3),
            (("from", f"{source}.where(F.col('d') >= '{DAY}')"), 2),
            (("columns", f"{source}.select({columns})"), 2),
            (("shuffled", f"{source}.select({shuffled})"), 1.5),
            (("extra", f'{source}.withColumn("extra", F.lit(1))'), 1.5),
            (("missing", f'{source}.drop("v")'), 1.5),
            (("bigint", f'{source}.withColumn("id", F.col("id").cast("bigint"))'), 1),
            (("text", f'{source}.withColumn("id", F.col("id").cast("string"))'), 0.5),
            (("empty", f'{source}.where("1 = 0")'), 0.7),
            (("distinct", f'{source}.dropDuplicates(["id"])'), 1),
            (("renamed", f'{source}.withColumnRenamed("v", "val")'), 1),
            (("grouped", f'{source}.groupBy({", ".join(repr(n) for n, _ in self.columns if n != "v")}).agg(F.max("v").alias("v")).select({columns})'), 1),
        ]
        if self.present:
            choices += [
                (("anti", f'{source}.join({target}, "id", "left_anti")'), 1.5),
                (("keep", f'{target}.where("d <> \'{DAY}\'").unionByName({source}.where("d = \'{DAY}\'"))'), 1.5),
                (("self", f'{target}.where("d = \'{DAY}\'")'), 0.7),
            ]
        return self.pick(choices)

    def settings(self):
        """Statements before the write."""
        key = "spark.sql.sources.partitionOverwriteMode"
        on = self.pick([(f'spark.conf.set("{key}", "dynamic")', 3), (f'spark.sql("SET {key}=dynamic")', 1), (f'spark.sql("SET {key} = DYNAMIC")', 1)])
        return self.pick([
            (("", []), 9),
            (("dyn", [on]), 7),
            (("dyn-reset", [on, 'spark.sql("RESET")']), 0.7),
            (("dyn-reset-key", [on, f'spark.sql("RESET {key}")']), 0.7),
            (("dyn-unset", [on, f'spark.conf.unset("{key}")']), 0.7),
            (("dyn-static", [on, f'spark.conf.set("{key}", "static")']), 0.7),
            (("dyn-shown", [on, f'spark.sql("SET {key}").collect()']), 0.4),
            (("dyn-other-reset", [on, 'spark.sql("RESET spark.sql.shuffle.partitions")']), 0.4),
            (("static", [f'spark.conf.set("{key}", "static")']), 0.7),
        ])

    def options(self):
        key = "overwrite-mode" if self.iceberg and self.one(0.6) else "partitionOverwriteMode"
        return self.pick([
            (("", ""), 10),
            (("o-dyn", f'.option("{key}", "dynamic")'), 2),
            (("o-static", f'.option("{key}", "static")'), 1),
            (("o-dict", f'.options(**{{"{key}": "dynamic"}})'), 0.7),
            (("o-merge", '.option("mergeSchema", "true")'), 0.7),
        ])

    def partition_by(self):
        if not self.partitions:
            return self.pick([("", 8), ('.partitionBy("d")', 2)])
        own = f".partitionBy({', '.join(repr(name) for name in self.partitions)})".replace("'", '"')
        return self.pick([(own, 8), ("", 2), ('.partitionBy("v")', 0.4)])

    def mode(self):
        return self.pick([("overwrite", 9), ("append", 4), ("error", 0.7), ("ignore", 0.7), (None, 0.7)])

    def layout(self):
        return self.pick([
            ("", 14), ('.bucketBy(2, "id")', 0.8), ('.bucketBy(2, "id").sortBy("id")', 0.4), ('.sortBy("id")', 0.3), ('.clusterBy("id")', 0.4),
        ])

    def writer(self):
        """`{df}` and what follows, with words."""
        api = self.pick([("save", 4), ("short", 2)] if self.is_path else [("sat", 4), ("insert", 4), ("to", 3), ("save-table", 1 if self.iceberg else 0)])
        if api == "to":
            return self.writer_to()
        options, mode = self.options(), self.mode()
        words = [api, mode or "default", options[0]]
        mode = "" if mode is None else f'.mode("{mode}")'
        other = self.pick([(self.format, 9), ("orc" if self.format != "orc" else "parquet", 1)])
        provider = other if self.present and not self.iceberg else self.format
        if api == "insert":
            by = self.pick([("", 9), (self.partition_by(), 1)])
            call = self.pick([(f'.insertInto("{self.target}")', 6), (f'.insertInto("{self.target}", overwrite=True)', 3), (f'.insertInto("{self.target}", False)', 0.7)])
            words.append("true" if "True" in call else "false" if "False" in call else "")
            return words, "{df}.write" + mode + options[1] + by + call
        by = self.partition_by()
        words.append("by" if by else "")
        if api in ("save", "save-table"):
            return words, "{df}.write" + f'.format("{provider}")' + mode + options[1] + by + f'.save("{self.target}")'
        if api == "short":
            return words, "{df}.write" + mode + options[1] + by + f'.{provider}("{self.target}")'
        layout = self.layout()
        words.append(layout.strip(".").split("(")[0])
        shown = self.pick([(f'.format("{provider}")', 7), ("", 3)])
        return words, "{df}.write" + shown + mode + options[1] + by + layout + f'.saveAsTable("{self.target}")'

    def writer_to(self):
        verb = self.pick([("append", 2), ("overwritePartitions", 3), ("overwrite", 2), ("create", 1), ("replace", 1), ("createOrReplace", 2)])
        call = f'.overwrite(F.col("d") == "{DAY}")' if verb == "overwrite" else f".{verb}()"
        by, using = "", ""
        if verb in ("create", "replace", "createOrReplace"):
            using = "" if self.one(0.3) else f'.using("{self.format}")'
            if self.partitions and self.one(0.75):
                by = f".partitionedBy({', '.join(f'F.col({name!r})' for name in self.partitions)})".replace("'", '"')
        return ["to", verb, "by" if by else ""], "{df}.writeTo(" + f'"{self.target}")' + using + by + call

    # As it is written down.

    def python(self):
        words, write = self.writer()
        frame_word, frame = self.frame()
        setting_word, settings = self.settings()
        style = self.pick([("plain", 6), ("variable", 2), ("function", 2), ("loop", 1), ("chain", 2)])
        if style == "chain" and "\n" in frame:
            style = "plain"
        body = []
        if style == "variable" and ".write." in write:
            at = write.rindex(".", 0, write.rindex("("))
            writer, verb = write[:at], write[at + 1 :]
            body = [f"df = {frame}", "writer = " + writer.replace("{df}", "df"), f"writer.{verb}"]
        elif style == "function":
            body = ["def load(frame, target):", "    " + write.replace("{df}", "frame").replace(f'"{self.target}"', "target"), "", "", f'load({frame}, "{self.target}")']
        elif style == "loop":
            body = [f'for each in ["{DAYS[1]}", "{DAYS[3]}"]:', f"    part = {frame}.where(F.col('d') == each)", "    " + write.replace("{df}", "part")]
        elif style == "chain":
            body = [write.replace("{df}", frame)]
        else:
            style, body = "plain", [f"df = {frame}", write.replace("{df}", "df")]
        head = ["from pyspark.sql import SparkSession, functions as F", "", "spark = SparkSession.builder.getOrCreate()", f'day = "{DAY}"']
        self.words += [*words, frame_word, setting_word, style]
        return "job.py", "\n".join([*head, *settings, *body]) + "\n"

    def select(self, target_columns=True, without=()):
        names = [name for name, _ in self.columns if name not in without]
        listed = ", ".join(names)
        rest = [name for name, _ in self.columns if name not in without]
        choices = [(("all", f"SELECT {listed} FROM {self.source}"), 6), (("day", f"SELECT {listed} FROM {self.source} WHERE d = DATE '{DAY}'"), 4)]
        if not without:
            choices += [(("star", f"SELECT * FROM {self.source}"), 5), (("cte", f"WITH s AS (SELECT * FROM {self.source} WHERE d >= '{DAY}') SELECT {listed} FROM s"), 1)]
            choices += [(("shuffled", f"SELECT {', '.join(reversed(rest))} FROM {self.source}"), 0.7), (("extra", f"SELECT *, 1 AS extra FROM {self.source}"), 0.7)]
        if self.present and not self.is_path:
            choices += [
                (("anti", f"SELECT {listed} FROM {self.source} s WHERE NOT EXISTS (SELECT 1 FROM {self.target} t WHERE t.id = s.id)"), 1),
                (("newer", f"SELECT {listed} FROM {self.source} WHERE d > (SELECT max(d) FROM {self.target})"), 0.7),
                (("keep", f"SELECT {listed} FROM {self.target} WHERE d <> '{DAY}' UNION ALL SELECT {listed} FROM {self.source}"), 0.7),
            ]
        return self.pick(choices)

    def statement(self):
        t = f"{self.format}.`{self.target}`" if self.is_path else self.target
        word, query = self.select()
        part, p = self.select(without=("d",)), ", c" if "c" in self.partitions else ""
        static = f"PARTITION (d = '{DAY}'{p})"
        day = self.pick([(DAY, 3), (DAYS[3], 1)])
        drop = f"ALTER TABLE {t} DROP {self.pick([('IF EXISTS ', 2), ('', 1)])}PARTITION (d = '{day}')"
        using = f"USING {self.format}" + (f" PARTITIONED BY ({', '.join(self.partitions)})" if self.partitions and self.one(0.8) else "")
        names = ", ".join(name for name, _ in self.columns)
        merge_on = self.pick([("t.id = s.id", 4), ("t.id = s.id AND t.d = s.d", 1)])
        merge = self.pick([
            ("WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *", 4), ("WHEN NOT MATCHED THEN INSERT *", 3),
            ("WHEN MATCHED THEN UPDATE SET v = s.v", 1), ("WHEN MATCHED THEN DELETE", 0.5),
            ("WHEN MATCHED AND s.v > t.v THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *", 1),
            ("WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED BY SOURCE THEN DELETE", 1),
        ])
        source = self.pick([(self.source, 4), (f"(SELECT * FROM {self.source} WHERE d = '{DAY}')", 1), (f"(SELECT DISTINCT * FROM {self.source})", 1)])
        row_level = 1.5 if self.iceberg else 0.4
        choices = [
            (("into", [f"INSERT INTO {t} {query}"]), 3),
            (("into-columns", [f"INSERT INTO {t} ({names}) {query}"]), 1),
            (("into-by-name", [f"INSERT INTO {t} BY NAME {query}"]), 1),
            (("into-static", [f"INSERT INTO {t} {static} {part[1]}"]), 1),
            (("overwrite", [f"INSERT OVERWRITE {self.pick([('TABLE ', 1), ('', 2)])}{t} {query}"]), 4),
            (("overwrite-by-name", [f"INSERT OVERWRITE {t} BY NAME {query}"]), 1),
            (("overwrite-static", [f"INSERT OVERWRITE TABLE {t} {static} {part[1]}"]), 2),
            (("overwrite-dynamic", [f"INSERT OVERWRITE TABLE {t} PARTITION (d{p}) {query}"]), 1.5),
            (("overwrite-empty-value", [f"INSERT OVERWRITE TABLE {t} PARTITION (d = ''{p}) {part[1]}"]), 0.4),
            (("replace-where", [f"INSERT INTO {t} REPLACE WHERE d = DATE '{DAY}' {query}"]), 1.5 if self.iceberg else 0.5),
            (("replace-using", [f"INSERT INTO {t} REPLACE USING (d) {query}"]), 0.4),
            (("ctas", [f"CREATE TABLE {t} {using} AS {query}"]), 0.7),
            (("ctas-if-not-exists", [f"CREATE TABLE IF NOT EXISTS {t} {using} AS {query}"]), 0.7),
            (("cor", [f"CREATE OR REPLACE TABLE {t} {using} AS {query}"]), 1.5 if self.iceberg else 0.4),
            (("drop-ctas", [f"DROP TABLE IF EXISTS {t}", f"CREATE TABLE {t} {using} AS {query}"]), 1),
            (("truncate-into", [f"TRUNCATE TABLE {t}", f"INSERT INTO {t} {query}"]), 1),
            (("truncate-day-into", [f"TRUNCATE TABLE {t} PARTITION (d = '{DAY}')", f"INSERT INTO {t} {query}"]), 0.5),
            (("drop-partition-into", [drop, f"INSERT INTO {t} {query}"]), 1.5),
            (("add-partition", [f"ALTER TABLE {t} ADD {self.pick([('IF NOT EXISTS ', 1), ('', 1)])}PARTITION (d = '{day}')"]), 0.4),
            (("if-not-exists", [f"INSERT OVERWRITE TABLE {t} {static} IF NOT EXISTS {part[1]}"]), 0.5),
            (("merge", [f"MERGE INTO {t} t USING {source} s ON {merge_on} {merge}"]), 5 * row_level),
            (("delete-into", [f"DELETE FROM {t} WHERE d = '{DAY}'", f"INSERT INTO {t} {query}"]), row_level),
            (("delete-in-into", [f"DELETE FROM {t} WHERE d IN (SELECT d FROM {self.source})", f"INSERT INTO {t} {query}"]), row_level),
            (("delete-keys-into", [f"DELETE FROM {t} WHERE id IN (SELECT id FROM {self.source})", f"INSERT INTO {t} {query}"]), row_level),
            (("update", [f"UPDATE {t} SET v = concat(v, '+') WHERE d = '{DAY}'"]), 0.5 * row_level),
            (("view-over-target", [f"CREATE OR REPLACE TEMPORARY VIEW old AS SELECT * FROM {t}", f"INSERT OVERWRITE {t} SELECT {names} FROM old WHERE d <> '{DAY}' UNION ALL SELECT {names} FROM {self.source}"]), 0.7),
        ]
        if not self.iceberg:
            choices += [(("directory", [f"INSERT OVERWRITE DIRECTORY '{'out/events' if self.is_path else 'out/elsewhere'}' USING {self.format} {query}"]), 0.7 if self.is_path else 0)]
        found, statements = self.pick(choices)
        self.words += [found, word if query in "".join(statements) else part[0]]
        return statements

    def sql(self):
        statements = self.statement()
        key = "spark.sql.sources.partitionOverwriteMode"
        word, before = self.pick([
            (("", []), 5), (("dyn", [f"SET {key} = dynamic"]), 3), (("dyn-reset", [f"SET {key}=dynamic", "RESET"]), 0.4),
            (("dyn-reset-key", [f"SET {key}=dynamic", f"RESET {key}"]), 0.4), (("dyn-static", [f"SET {key}=dynamic", f"SET {key}=static"]), 0.3),
        ])
        style = self.pick([("file", 5), ("call", 3), ("text", 1.5)])
        self.words += [word, style]
        statements = before + statements
        if style == "file":
            return "job.sql", "".join(f"{statement};\n" for statement in statements)
        head = ["from pyspark.sql import SparkSession", "", "spark = SparkSession.builder.getOrCreate()", ""]
        if style == "text":
            body = [f'day = "{DAY}"', *[f'spark.sql(f"""{s.replace(DAY, "{day}")}""")' for s in statements]]
        else:
            body = [f'spark.sql("{statement}")' for statement in statements]
        return "job.py", "\n".join(head + body) + "\n"

    def setup(self):
        ddl = ", ".join(f"{name} {kind}" for name, kind in self.columns)
        by = f" PARTITIONED BY ({', '.join(self.partitions)})" if self.partitions else ""
        plain = "iceberg" if self.iceberg else "parquet"
        target = {"name": self.target, "kind": "path" if self.is_path else "table", "format": self.format}
        if self.partitions:
            target["partitioned_by"] = self.partitions
        made = {**target, "rows_file": rows_file(self.target)}
        if not self.is_path:
            made["ddl"] = f"CREATE TABLE {self.target} ({ddl}) USING {self.format}{by}"
        source = {"name": self.source, "kind": "table", "format": plain, "rows_file": rows_file(self.source), "ddl": f"CREATE TABLE {self.source} ({ddl}) USING {plain}"}
        setup = {"target": target, "inputs": [self.source], "objects": ([made] if self.present else []) + [source]}
        # These leave rows of the input out.
        if {"empty", "anti", "self", "newer", "day", "dayof", "from", "cte", "update"} & set(self.words):
            setup["no_input_check"] = True
        if self.iceberg or not self.partitions:
            setup["key_columns"] = self.partitions or ["d"]
        facts = [{"name": thing["name"], "format": thing["format"], "schema": ddl.lower(),
                  **({"partitioned_by": thing["partitioned_by"]} if "partitioned_by" in thing else {}),
                  **({"path": thing["name"]} if thing["kind"] == "path" else {})} for thing in setup["objects"]]
        config = {"platform": "spark", "spark_version": "3.5" if self.iceberg else "4.3", "table_format": plain, "sources": facts}
        return setup, config

    def write(self, number):
        name, text = self.sql() if self.one(0.42) and not (self.is_path and self.one(0.7)) else self.python()
        setup, config = self.setup()
        words = "-".join(word for word in self.words if word)
        folder = os.path.join(ROOT, f"{'i' if self.iceberg else 'f'}{number:03}-{words}")
        os.makedirs(os.path.join(folder, "job"))
        os.makedirs(os.path.join(folder, "data"))
        half = random.Random(f"half {folder.rsplit('/', 1)[-1]}").choice(["build", "blind"])
        case = {"about": " ".join(word for word in self.words if word), "half": half, "platform": "spark", "setup": setup}
        dump = lambda path, value: open(os.path.join(folder, path), "w").write(yaml.safe_dump(value, sort_keys=False))
        dump("case.yaml", case)
        dump("job/pipelint.yaml", config)
        open(os.path.join(folder, "job", name), "w").write(text)
        tables = {self.source: self.rows("source"), **({self.target: self.rows("target")} if self.present else {})}
        for name, rows in tables.items():
            open(os.path.join(folder, "data", rows_file(name)), "w").writelines(json.dumps(row) + "\n" for row in rows)
        return text


def rows_file(table):
    return table.replace("/", "_").split(".")[-1] + ".jsonl"


def main():
    files, iceberg = (int(text) for text in sys.argv[1:3])
    shutil.rmtree(ROOT, ignore_errors=True)
    for kind, count in [(False, files), (True, iceberg)]:
        known, number, seed = set(), 0, 0
        while number < count:
            draw, seed = Draw(seed, kind), seed + 1
            folders = set(os.listdir(ROOT)) if os.path.isdir(ROOT) else set()
            text = draw.write(number)
            key = (text, str(draw.setup()), str(draw.rows("source")))
            if key in known:
                made = set(os.listdir(ROOT)) - folders
                for folder in made:
                    shutil.rmtree(os.path.join(ROOT, folder))
                continue
            known.add(key)
            number += 1


if __name__ == "__main__":
    main()
