// Log in; what the page shows stays behind the dialog.
import { useState } from "preact/hooks";
import { ApiError } from "../api/client";
import { clock } from "../lib/format";
import { loggedOutAt, login, session } from "../store/session";
import { Dialog } from "./Dialog";

export function Login({ onDone }: { onDone: () => void }) {
  const [name, setName] = useState(session.value?.person ?? "");
  const [password, setPassword] = useState("");
  const [problem, setProblem] = useState("");
  async function send(): Promise<void> {
    try {
      await login(name, password);
      onDone();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setProblem(error.problem.retry_after_s ? `${error.message} Try again in ${error.problem.retry_after_s} s.` : error.message);
    }
  }
  const since = loggedOutAt.value;
  return (
    <Dialog title="Log in" canClose={false} onSend={() => void send()}>
      <div class="inside">
        <p class="dim">
          {since !== null
            ? `You were logged out at ${clock(since)}. Log in; this page waits.`
            : "Without accounts, open the address that graphghha serve printed: its token works once."}
        </p>
        <label class="above"><span>Name</span>
          <input class="field" data-first autocomplete="username" value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <label class="above"><span>Password</span>
          <input class="field" type="password" autocomplete="current-password" value={password} onInput={(event) => setPassword(event.currentTarget.value)} />
        </label>
        <p role="alert" class="strong">{problem}</p>
      </div>
      <footer><button type="submit" class="button main">Log in</button></footer>
    </Dialog>
  );
}
