#!/usr/bin/env python3
"""The live page in a real browser: live_page.py URL FOLDER UPDATES [INTERVAL_S] prints one JSON object.

It says how long an update takes, whether anything is left behind by many of them, and whether the page can be read on a
phone and without colours. It speaks the DevTools protocol with Chromium by pipes (--remote-debugging-pipe): messages of
JSON, each ended by a zero.
"""

import json
import os
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))

import patience  # noqa: E402

PHONE = {"width": 360, "height": 640, "deviceScaleFactor": 2, "mobile": True}

# What a person could not read, or could tell by its colour alone.
LOOK = """(() => {
  const isShown = (each) => !/^(script|style|title)$/i.test(each.tagName);
  const hasText = (each) => [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const texts = [...document.querySelectorAll("body *")].filter((each) => isShown(each) && hasText(each));
  const vertices = [...document.querySelectorAll(".vertex")];
  const of = (vertex) => [...vertex.querySelectorAll("text")].map((each) => each.textContent);
  return {
    wide: document.documentElement.scrollWidth,
    smallest: Math.min(...texts.map((each) => parseFloat(getComputedStyle(each).fontSize))),
    marked: vertices.filter((each) => /✗ /.test(of(each)[1])).map((each) => of(each)[0]),
    red: vertices.filter((each) => each.querySelector("text.bad")).map((each) => of(each)[0]),
    dashed: vertices.filter((each) => getComputedStyle(each.querySelector("rect")).strokeDasharray !== "none")
      .map((each) => of(each)[0]),
    cold: vertices.filter((each) => each.classList.contains("cold")).map((each) => of(each)[0]),
  };
})()"""


class Browser:
    """Chromium with one page."""

    def __init__(self, folder):
        ours, theirs = os.pipe(), os.pipe()
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
                   "--remote-debugging-pipe", f"--user-data-dir={folder}", "about:blank"]

        def connect():
            # Away from 3 and 4 first, as these may be among them.
            reads, writes = os.dup2(ours[0], 60), os.dup2(theirs[1], 61)
            os.dup2(reads, 3)
            os.dup2(writes, 4)

        self.process = subprocess.Popen(command, preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self.to, self.back = ours[1], os.fdopen(theirs[0], "rb")
        self.sent, self.session, self.rest = 0, None, b""
        pages = self.ask("Target.getTargets")["targetInfos"]
        page = next(each["targetId"] for each in pages if each["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]

    def ask(self, method, **parameters):
        """What it answers."""
        self.sent += 1
        message = {"id": self.sent, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                more = self.back.read1(65536)
                if not more:
                    sys.exit("chromium has ended")
                self.rest += more
            line, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(line)
            if answer.get("id") == self.sent:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]

    def value(self, expression):
        """What an expression of the page comes to."""
        result = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            sys.exit(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def metrics(self):
        """What it has measured of the page."""
        return {each["name"]: each["value"] for each in self.ask("Performance.getMetrics")["metrics"]}

    def kept(self):
        """The bytes of the heap and the nodes that are in use."""
        self.ask("HeapProfiler.collectGarbage")
        now = self.metrics()
        return now["JSHeapUsedSize"], now["Nodes"]


def main():
    url, folder, updates = sys.argv[1], sys.argv[2], int(sys.argv[3])
    interval_s = float(sys.argv[4]) if len(sys.argv) > 4 else 0
    browser = Browser(folder)
    try:
        browser.ask("Emulation.setDeviceMetricsOverride", **PHONE)
        # Of the thread: what others have of the processors meanwhile is no time of the page.
        browser.ask("Performance.enable", timeDomain="threadTicks")
        browser.ask("HeapProfiler.enable")
        browser.ask("Page.navigate", url=url)
        is_drawn = "if (document.querySelector('.vertex')) drawn();"
        browser.value(f"new Promise((drawn) => setInterval(() => {{ {is_drawn} }}, 20))")
        update = "(async () => { await update(); await new Promise(requestAnimationFrame); })()"
        works = ["ScriptDuration", "LayoutDuration", "RecalcStyleDuration"]
        times = []
        for number in range(updates):
            if number == updates // 4:
                before = browser.kept()
            was = browser.metrics()
            browser.value(update)
            now = browser.metrics()
            times.append(sum(now[each] - was[each] for each in works) * 1000)
            patience.let_pass(interval_s)
        after = browser.kept()
        print(json.dumps({"median_ms": statistics.median(times), "heap_bytes": [before[0], after[0]],
                          "nodes": [before[1], after[1]], **browser.value(LOOK)}))
    finally:
        # By itself, as it leaves files behind where it is killed.
        browser.session = None
        browser.ask("Browser.close")
        browser.process.wait()


main()
