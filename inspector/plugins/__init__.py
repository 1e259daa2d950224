"""Plug-ins: formats, checks, fields and payload views from files and packages of the user (docs/plug-ins.md).

`inspector.plugin` is the API that plug-ins import. `discovery` finds them without running them, `importing` runs those
that are switched on, `loading` puts what they add beside the built-in declarations.
"""
