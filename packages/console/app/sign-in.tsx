import { useState } from 'react';
import { type SessionState, signInByToken, startSession } from '../session/session.ts';
import { Logo } from './logo.tsx';
import { LanguageChoice } from './preferences.tsx';
import { shellTexts } from './shell-texts.ts';

/** What a user who is not signed in sees: how to get a link, or that the service does not answer. */
export function SignIn({ state }: { state: Extract<SessionState, string> }) {
  const t = shellTexts.use();
  return (
    <main className="sign-in">
      <div className="card">
        <div className="brand">
          <Logo />
          <span>{t('product')}</span>
        </div>
        <h1>{t('signIn.title')}</h1>
        {state === 'unreachable' ? (
          <>
            <p role="alert">{t('signIn.unreachable')}</p>
            <button type="button" className="button button-primary" onClick={() => void startSession()}>
              {t('retry')}
            </button>
          </>
        ) : (
          <>
            {state === 'code-refused' && <p role="alert">{t('signIn.usedCode')}</p>}
            <p>{t('signIn.byLink')}</p>
            <pre className="code">
              <code>npm run -s admin -- console link --user …</code>
            </pre>
            {import.meta.env.DEV && <TokenForm />}
          </>
        )}
        <LanguageChoice />
      </div>
    </main>
  );
}

/** Only while the console is developed. */
function TokenForm() {
  const [token, setToken] = useState('');
  return (
    <form
      className="field"
      onSubmit={(event) => {
        event.preventDefault();
        signInByToken(token);
      }}
    >
      <label htmlFor="token">Bearer token</label>
      <input id="token" className="input" value={token} onChange={({ target }) => setToken(target.value)} />
    </form>
  );
}
