import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/screens.css";
import { App } from "./app";
import { link } from "./lib/route";
import { listen } from "./shell/keyboard";
import * as live from "./store/live";
import { followTheme } from "./store/preferences";
import { route } from "./store/router";
import { needsLogin, readSession } from "./store/session";
import { readFailed, readSites, sites } from "./store/site";

let isLive = false;
async function begin(): Promise<void> {
  try {
    await readSession();
    if (needsLogin.value) return;
    await readSites();
    if (!sites.value.some((site) => site.name === route.value.site)) {
      const first = sites.value[0];
      if (first) location.replace(link(first.name, "overview"));
      else readFailed.value = "The journal holds no site yet. The monitor registers its sites when it starts.";
    }
    if (!isLive) live.start();
    isLive = true;
  } catch {
    setTimeout(() => void begin(), 2000);
  }
}

followTheme();
listen();
render(<App begin={begin} />, document.getElementById("page")!);
void begin();
