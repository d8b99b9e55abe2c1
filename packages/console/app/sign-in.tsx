import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { get } from '../api/client.ts';
import { untilReachable } from '../api/connection.ts';
import { shellTexts } from '../i18n/texts.ts';
import { type SessionState, startSession } from '../session/session.ts';
import { storedJson } from '../store.ts';
import { Button } from '../widgets/controls.tsx';
import { Logo } from '../widgets/icon.tsx';
import { useEvents } from '../widgets/use-events.ts';
import { LanguageChoice } from './preferences.tsx';

/** The page of a user who is not signed in: how to get a link, or that the service does not respond. */
export function SignIn({ state }: { state: Extract<SessionState, string> }) {
  const t = shellTexts.use();
  const provider = useQuery(get(['identity-provider'], '/api/v1/session/methods')).data?.openid ?? null;
  const [returns] = useState(keepAddress);
  // A link that is opened in this window changes nothing but the code after the address.
  useEvents(window, ['hashchange'], () => void startSession());
  useEffect(() => {
    if (state === 'unreachable') void untilReachable().then(startSession);
  }, [state]);
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
            <Button kind="primary" onClick={() => void startSession()}>
              {t('retry')}
            </Button>
          </>
        ) : (
          <>
            {state !== 'starting' && state !== 'signed-out' && (
              <p role="alert">
                {t(state === 'code-refused' ? 'signIn.usedCode' : `signIn.${state}`, { name: provider?.name ?? '' })}
              </p>
            )}
            {provider !== null && (
              <a className="button button-primary" href={provider.url}>
                {t('signIn.byProvider', { name: provider.name })}
              </a>
            )}
            <p>{t('signIn.byLink')}</p>
            {returns && <p className="muted">{t('signIn.returns')}</p>}
          </>
        )}
        <LanguageChoice />
      </div>
    </main>
  );
}

const STORED = 'console.address';
/** A sign-in that takes longer is another visit. */
const KEPT_MS = 60 * 60_000;

/** The path of the console: sign-in links and identity providers lead to it. */
const START = new URL(document.baseURI).pathname;

/**
 * Remembers the page that a person opened and that needs a sign-in, in the browser: a sign-in link may open another tab.
 * Returns whether there is one.
 */
function keepAddress(): boolean {
  const address = location.pathname + location.search;
  if (![START, `${START}calls`].includes(address))
    localStorage.setItem(STORED, JSON.stringify({ address, at: Date.now() }));
  return storedAddress() !== null;
}

/** The page to go to after a sign-in, once. Null when the sign-in led to a page of its own. */
export function takeAddress(): string | null {
  const address = storedAddress();
  localStorage.removeItem(STORED);
  return location.pathname === START ? address : null;
}

function storedAddress(): string | null {
  const stored = storedJson(localStorage, STORED) as { address: string; at: number } | null;
  // Only of the console: what is stored could lead elsewhere.
  const isOwn = stored !== null && Date.now() - stored.at < KEPT_MS && stored.address.startsWith(START);
  return isOwn ? stored.address : null;
}
