"""A collector of traces: takes OTLP over HTTP at a port that it says, decodes it by the published definitions, and
prints a line of JSON for each request, the list of its spans: whoever reads them has all of a flow's or none. The
definitions are those of the folder that is given, a package of PyPI."""

import http.server
import json
import sys

sys.path.insert(0, sys.argv[1])
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2  # noqa: E402


def described(resource, span):
    """What a span says."""
    attributes = {one.key: one.value.string_value or one.value.int_value for one in span.attributes}
    service = {one.key: one.value.string_value for one in resource.attributes}["service.name"]
    return {"service": service, "trace": span.trace_id.hex(), "id": span.span_id.hex(), "name": span.name,
            "parent": span.parent_span_id.hex(), "kind": span.kind, "begin": span.start_time_unix_nano,
            "end": span.end_time_unix_nano, "status": span.status.code, "message": span.status.message, **attributes}


class Collector(http.server.BaseHTTPRequestHandler):
    """Answers as the protocol has it."""

    def do_POST(self):  # pylint: disable=invalid-name
        """A request of an exporter."""
        request = trace_service_pb2.ExportTraceServiceRequest()
        request.ParseFromString(self.rfile.read(int(self.headers["Content-Length"])))
        right = self.path == "/v1/traces" and self.headers["Content-Type"] == "application/x-protobuf"
        if right:
            spans = [described(resource.resource, span) for resource in request.resource_spans
                     for scope in resource.scope_spans for span in scope.spans]
            print(json.dumps(spans), flush=True)
        self.send_response(200 if right else 400)
        self.end_headers()
        self.wfile.write(trace_service_pb2.ExportTraceServiceResponse().SerializeToString())

    def log_message(self, *_):  # pylint: disable=arguments-differ
        """Nothing is said of requests."""


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    print(server.server_port, flush=True)
    server.serve_forever()
