"""Live views over HTTP: rows, changes as they happen, and statements, for programs outside the process.

access         who may call: loopback only, or a token
application    the routes, as one Starlette application
change_log     the latest changes of one table or view, from which every client is served
copies         equal rows, told apart by numbers
database       what a database must offer to be served
encoding       values and rows as JSON and CSV
event_stream   changes as server-sent events
following      goes to versions that others have written
handover       responses whose connections leave the process
mcp            tools for language models
metrics        counters in the format of Prometheus
relay          hands connections of streams to a process of their own, and tells it what changes
relay_process  that process
requests       parameters and bodies of requests, checked
service        what all routes share: the database and the logs of changes
server         an application on a port, in a thread of its own
shapes         Electric's shape protocol, so that its clients follow a view
studio         the page that shows a database, and what it reads
"""
