#!/usr/bin/env python3
"""Writes src/functions/pyspark.tsv: what PySpark itself does with the arguments of its functions.

Run with the Python of an installed PySpark: `~/.cache/pipelint/spark-4.3/bin/python .ci/record-pyspark.py > src/functions/pyspark.tsv`.

No type hint decides whether a string is a column or a literal: hints say `str` for both. Each function of Spark Connect's client
(which builds expressions without a server) is called instead, once a parameter, and the expression it built is read: the name of
the SQL function, the order of the arguments, what a string became, and what stands for a parameter that was not given.
"""

import importlib
import inspect
import itertools
import json
import sys
import typing

import pyspark
import pyspark.sql.connect.expressions as E
import pyspark.sql.connect.functions.builtin as client
import pyspark.sql.functions as functions
from pyspark.sql.avro import functions as avro
from pyspark.sql.connect.avro import functions as avro_client
from pyspark.sql.protobuf import functions as protobuf
from pyspark.sql.column import Column as AnyColumn
from pyspark.sql.connect.column import Column
from pyspark.sql.types import IntegerType, StructField, StructType

MODULES = """pyspark.sql pyspark.sql.functions pyspark.sql.types pyspark.sql.window pyspark.sql.streaming pyspark.pipelines abc
collections copy dataclasses datetime decimal enum fractions functools itertools json logging math operator os os.path pathlib random
re string time typing uuid""".split()

INT = 4711
SCHEMA = StructType([StructField("probe", IntegerType())])


class Skip(Exception):
    """The call shows nothing that a table can hold."""


def text_of(hint):
    return str(hint).replace("typing.", "").replace("pyspark.sql.column.", "").replace("ForwardRef", "")


def is_callable(hint):
    return "Callable" in text_of(hint)


def candidates(parameter):
    """Values to try for a parameter, the likeliest first."""
    hint = text_of(parameter.annotation)
    column = Column(E.ColumnReference("c_" + parameter.name))
    values = []
    if is_callable(parameter.annotation):
        return [lambda a: a, lambda a, b: a, lambda a, b, c: a]
    if "Column" in hint or "Any" in hint:
        values.append(column)
    if "bool" in hint:
        values.append(True)
    if "Mapping" in hint or "Dict" in hint:
        values.append({"k": "v"})
    if "int" in hint or "float" in hint:
        values += [INT, 256]
    if "str" in hint:
        values += ["s_" + parameter.name, "int"]
    if "Type" in hint:
        values.append(SCHEMA)
    return values + [column, "int", INT, 0.5, True]


def build(function, given):
    positional, keywords = [], {}
    for parameter, value in given:
        if parameter.kind is parameter.VAR_POSITIONAL:
            # `greatest` wants two.
            positional += [value, value]
        elif parameter.kind is parameter.KEYWORD_ONLY:
            keywords[parameter.name] = value
        else:
            keywords[parameter.name] = value
    if positional:
        ordered = [keywords.pop(p.name) for p, _ in given if p.kind is p.POSITIONAL_OR_KEYWORD]
        positional = ordered + positional
    built = function(*positional, **keywords)
    if not isinstance(built, Column):
        raise Skip
    return built._expr


def call_of(expression):
    if isinstance(expression, E.UnresolvedFunction):
        return expression._name, list(expression._args), bool(expression._is_distinct)
    raise Skip


def shape(expression):
    """What one argument became."""
    if isinstance(expression, E.ColumnReference):
        return ("column", expression._unparsed_identifier)
    if isinstance(expression, E.LiteralExpression):
        return ("literal", expression._value)
    if isinstance(expression, E.LambdaFunction):
        return ("lambda", None)
    if isinstance(expression, E.UnresolvedFunction) and expression._name == "map":
        return ("options", None)
    if isinstance(expression, E.UnresolvedFunction) and expression._name == "array":
        return ("array", None)
    raise Skip


def first_that_works(function, parameters):
    """The first combination of candidate values that the function takes."""
    lists = [candidates(parameter) for parameter in parameters]
    for values in itertools.islice(itertools.product(*lists), 3000):
        given = list(zip(parameters, values))
        try:
            call_of(build(function, given))
        except Exception:
            continue
        return given
    raise Skip


def with_value(given, parameter, value):
    replaced = [(p, value if p is parameter else v) for p, v in given]
    if all(p is not parameter for p, _ in given):
        replaced.append((parameter, value))
    return replaced


def kind_of(function, given, parameter):
    """column, literal, lambda, schema or options: what a string (or the only thing that is taken) becomes."""
    if is_callable(parameter.annotation):
        return "lambda"
    try:
        built = call_of(build(function, with_value(given, parameter, SCHEMA)))
        if any(shape(a) == ("literal", SCHEMA.json()) for a in built[1]):
            return "schema"
    except Exception:
        pass
    for probe in ("probe", "int", "1 second"):
        try:
            _, args, _ = call_of(build(function, with_value(given, parameter, probe)))
        except Exception:
            continue
        shapes = [shape(a) for a in args]
        if ("column", probe) in shapes:
            return "column"
        if ("literal", probe) in shapes:
            return "literal"
    hint = text_of(parameter.annotation)
    if "Mapping" in hint or "Dict" in hint:
        return "options"
    for value in candidates(parameter):
        try:
            _, args, _ = call_of(build(function, with_value(given, parameter, value)))
        except Exception:
            continue
        if isinstance(value, AnyColumn):
            return "column"
        return "literal"
    raise Skip


def positions(function, given):
    """Which parameter each argument of the SQL call comes from; constants otherwise."""
    _, before, _ = call_of(build(function, given))
    found = [None] * len(before)
    for index, (parameter, value) in enumerate(given):
        if is_callable(parameter.annotation):
            continue
        for other in candidates(parameter)[::-1] + [INT + 1, "other", False, Column(E.ColumnReference("other"))]:
            try:
                if other == value if not isinstance(other, AnyColumn) and not isinstance(value, AnyColumn) else False:
                    continue
                _, after, _ = call_of(build(function, with_value(given, parameter, other)))
            except Exception:
                continue
            if len(after) != len(before):
                continue
            changed = [at for at, (a, b) in enumerate(zip(before, after)) if repr(a) != repr(b)]
            if len(changed) == (2 if parameter.kind is parameter.VAR_POSITIONAL else 1):
                found[changed[0]] = parameter
                break
    lambdas = [p for p, _ in given if is_callable(p.annotation)]
    for at, argument in enumerate(before):
        if found[at] is None and isinstance(argument, E.LambdaFunction) and lambdas:
            found[at] = lambdas.pop(0)
    return found, before


def json_of(value):
    return json.dumps(value, ensure_ascii=True, default=lambda number: int(number))


def fewest(function, parameters):
    """The fewest arguments that the function takes: `make_timestamp` wants its six, all of them optional."""
    required = [p for p in parameters if p.default is p.empty]
    optional = [p for p in parameters if p.default is not p.empty]
    for count in range(len(optional) + 1):
        try:
            return first_that_works(function, required + optional[:count])
        except Skip:
            continue
    raise Skip


def describe(function):
    """SQL name, flags and parameters of one function."""
    parameters = list(inspect.signature(function).parameters.values())
    given = fewest(function, parameters)
    sql, _, distinct = call_of(build(function, given))
    if sql in [value for _, value in given if isinstance(value, str)]:
        # The caller names the function (`call_udf`).
        raise Skip
    optional = [p for p in parameters if p.default is not p.empty]
    # What stands for an optional parameter that is not given while the last one is.
    everything = given
    for parameter in optional:
        for value in candidates(parameter):
            try:
                call_of(build(function, with_value(everything, parameter, value)))
            except Exception:
                continue
            everything = with_value(everything, parameter, value)
            break
    everything.sort(key=lambda pair: parameters.index(pair[0]))
    found, full = positions(function, everything)
    order = [p for p in found if p is not None]
    fields = []
    for parameter in parameters:
        base = everything if parameter in [p for p, _ in everything] else given
        text = ("*" if parameter.kind is parameter.VAR_POSITIONAL else "") + parameter.name
        try:
            text += ":" + kind_of(function, base, parameter)
        except Skip:
            # Never beside the others (`date` of `make_timestamp`).
            text += ":" + kind_by_hint(parameter)
        if parameter in optional:
            text += "=" + (stand_in(function, everything, parameter, found, full) or "")
        fields.append(text)
    ranks = [parameters.index(p) for p in order]
    moved = "" if ranks == sorted(ranks) else " ".join(parameters[r].name for r in ranks)
    return sql, "distinct" if distinct else "", moved, fields


def stand_in(function, everything, parameter, found, full):
    """The constant that is passed where everything else is given and this parameter is not."""
    if parameter not in found:
        return None
    try:
        _, args, _ = call_of(build(function, [pair for pair in everything if pair[0] is not parameter]))
    except Exception:
        args = []
    if len(args) != len(full):
        return None
    kind, value = shape(args[found.index(parameter)])
    again = call_of(build(function, [pair for pair in everything if pair[0] is not parameter]))[1]
    copied = any(value == given for _, given in everything if isinstance(given, str) and isinstance(value, str))
    # A seed drawn at random is no default, nor is another argument.
    if kind != "literal" or copied or repr(again) != repr(args):
        return None
    return json_of(value)


def kind_by_hint(parameter):
    if is_callable(parameter.annotation):
        return "lambda"
    return "column" if "Column" in text_of(parameter.annotation) else "literal"


def parameters_only(function):
    """Names and kinds from hints alone: functions that build something else than a call, each with code of its own."""
    fields = []
    for parameter in inspect.signature(function).parameters.values():
        text = ("*" if parameter.kind is parameter.VAR_POSITIONAL else "") + parameter.name
        text += ":" + kind_by_hint(parameter)
        if parameter.default is not parameter.empty:
            text += "="
        fields.append(text)
    return fields


def own_functions(module):
    """Public functions that a module defines, the deprecated ones that it no longer lists, too."""
    found = [n for n, value in vars(module).items() if inspect.isfunction(value) and not n.startswith("_")]
    return sorted(n for n in found if getattr(module, n).__module__.startswith(module.__name__))


def exports(module):
    loaded = importlib.import_module(module)
    names = getattr(loaded, "__all__", None) or [n for n in vars(loaded) if not n.startswith("_")]
    if loaded is functions:
        # Before Spark 4 there was no list.
        names = [*names, *own_functions(functions)]
    return sorted(n for n in set(names) if not inspect.ismodule(getattr(loaded, n, None)))


def row(function, builder):
    try:
        sql, distinct, moved, fields = describe(builder)
        return [sql, distinct, moved, *fields]
    except Exception as error:
        if not isinstance(error, Skip) and builder is not None:
            print(f"{function.__name__}: {error!r}", file=sys.stderr)
        return ["-", "", "", *parameters_only(function)]


def main():
    print(f"# Recorded from pyspark {pyspark.__version__} by .ci/record-pyspark.py; not written by hand.")
    print("# function: name, SQL name (`-`: no plain call), `distinct`, order of the SQL arguments where it differs, parameters.")
    print("# parameter: name:kind, `*` before a rest, `=` after an optional one with what PySpark passes in its place.")
    # Those of protobuf read the file that they are given; hints will do.
    for module, builders in [(functions, client), (avro, avro_client), (protobuf, None)]:
        for name in own_functions(module):
            print("\t".join(["function", name, *row(getattr(module, name), getattr(builders, name, None))]))
    for name, method in sorted(vars(AnyColumn).items()):
        if not name.startswith("_") and inspect.isfunction(method):
            fields = [p.name for p in list(inspect.signature(method).parameters.values())[1:]]
            print("\t".join(["column-method", name, *fields]))
    for module in MODULES:
        print("\t".join(["module", module, *exports(module)]))


main()
