"""Reads an export by programs of others and prints its rows as JSON: read-exports.py xlsx|parquet|duckdb|csv FILE."""
import csv
import datetime
import json
import sys

kind, file = sys.argv[1:]


def plain(value):
    if isinstance(value, datetime.datetime):
        at = value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
        return {"time": at.astimezone(datetime.timezone.utc).isoformat(timespec="milliseconds")}
    return value


if kind == "xlsx":
    import openpyxl

    sheet = openpyxl.load_workbook(file, read_only=True).active
    rows = sheet.iter_rows()
    names = [cell.value for cell in next(rows)]
    # A row ends with its last cell that has a value.
    found = [dict.fromkeys(names) | {name: plain(cell.value) for name, cell in zip(names, row)} for row in rows]
    formulas = [cell.coordinate for row in sheet.iter_rows() for cell in row if getattr(cell, "data_type", "") == "f"]
    assert formulas == [], formulas
elif kind == "parquet":
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(file)
    found = [{name: plain(value) for name, value in row.items()} for row in table.to_pylist()]
elif kind == "duckdb":
    import duckdb

    answer = duckdb.sql(f"SET TimeZone = 'UTC'; SELECT * FROM '{file}'")
    found = [{name: plain(value) for name, value in zip(answer.columns, row)} for row in answer.fetchall()]
else:
    with open(file, encoding="utf-8-sig", newline="") as opened:
        found = list(csv.DictReader(opened))

json.dump(found, sys.stdout)
