"""Runs one prompt in RPC mode and prints the answer as it comes.

    python3 python_client.py "List the files in this directory" -- pi --mode rpc --no-session --model demo

The end of a run is `agent_settled`: after `agent_end` a retry or a queued message may follow. Needs only Python 3.8.
"""

import json
import subprocess
import sys


class PiClient:
    def __init__(self, command):
        # Bytes, not text: text mode would decode by locale, and its line reader may split at more than LF.
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, record):
        self.process.stdin.write(json.dumps(record).encode("utf-8") + b"\n")
        self.process.stdin.flush()

    def records(self):
        # Iterating over a binary pipe splits at b"\n" only, as the protocol asks for.
        for line in self.process.stdout:
            yield json.loads(line.decode("utf-8"))

    def prompt(self, message):
        """Sends a message and yields the records of its run, up to and including `agent_settled`."""
        self.send({"id": "prompt", "type": "prompt", "message": message})
        for record in self.records():
            yield record
            if record["type"] == "response" and record.get("id") == "prompt":
                if not record["success"]:
                    raise RuntimeError(record["error"])
                if record["data"]["disposition"] == "handled":
                    return  # no run follows
            if record["type"] == "agent_settled":
                return
        raise RuntimeError("pi ended before the run did")

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def main(arguments):
    if len(arguments) < 3 or arguments[1] != "--":
        raise SystemExit(__doc__)
    message, _, *command = arguments
    client = PiClient(command)
    failure = None
    for record in client.prompt(message):
        if record["type"] == "message_update":
            event = record["assistantMessageEvent"]
            if event["type"] == "text_delta":
                print(event["delta"], end="", flush=True)
            elif event["type"] == "text_end":
                print(flush=True)
        elif record["type"] == "tool_execution_start":
            print(f"[{record['toolName']} {json.dumps(record['args'])}]", flush=True)
        elif record["type"] == "message_end" and record["message"].get("stopReason") == "error":
            failure = record["message"].get("errorMessage")
        elif record["type"] == "agent_end" and record["willRetry"]:
            failure = None
    code = client.close()
    if failure:
        raise SystemExit(failure)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
