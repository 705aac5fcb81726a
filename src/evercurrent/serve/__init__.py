"""Live views over HTTP: rows, changes as they happen, and statements, for programs outside the process.

access        who may call: loopback only, or a token
application   the routes, as one Starlette application
change_log    the latest changes of one table or view, from which every client is served
database      what a database must offer to be served
encoding      values and rows as JSON and CSV
event_stream  changes as server-sent events
metrics       counters in the format of Prometheus
requests      parameters and bodies of requests, checked
server        an application on a port, in a thread of its own
shapes        Electric's shape protocol, so that its clients follow a view
"""
