"""Requests and answers of the HTTP API, version 1, as pydantic models. `docs/api.md` describes them in words.

Times are texts in UTC such as `2018-07-10T17:41:00Z`, except in arrays, where they are milliseconds since 1970. Values
are in SI units; a number that is not known is null and never zero.
"""
