import { useEffect, useState } from 'react';
import { untilReachable } from '../api/connection.ts';
import {
  type IdentityProvider,
  identityProvider,
  type ProviderRefusal,
  type SessionState,
  signInByToken,
  startSession,
} from '../session/session.ts';
import { Logo } from './logo.tsx';
import { LanguageChoice } from './preferences.tsx';
import { keepAddress } from './return-address.ts';
import { shellTexts } from './shell-texts.ts';

/** The page of a user who is not signed in: how to get a link, or that the service does not respond. */
export function SignIn({ state }: { state: Extract<SessionState, string> }) {
  const t = shellTexts.use();
  const provider = useIdentityProvider();
  const [returns] = useState(keepAddress);
  useEffect(() => {
    // A link that is opened in this window changes nothing but the code after the address.
    const begin = () => void startSession();
    addEventListener('hashchange', begin);
    return () => removeEventListener('hashchange', begin);
  }, []);
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
            <button type="button" className="button button-primary" onClick={() => void startSession()}>
              {t('retry')}
            </button>
          </>
        ) : (
          <>
            {state === 'code-refused' && <p role="alert">{t('signIn.usedCode')}</p>}
            {isProviderRefusal(state) && <p role="alert">{t(`signIn.${state}`, { name: provider?.name ?? '' })}</p>}
            {provider !== null && (
              <a className="button button-primary" href={provider.url}>
                {t('signIn.byProvider', { name: provider.name })}
              </a>
            )}
            <p>{t('signIn.byLink')}</p>
            {returns && <p className="muted">{t('signIn.returns')}</p>}
            {import.meta.env.DEV && <TokenForm />}
          </>
        )}
        <LanguageChoice />
      </div>
    </main>
  );
}

function isProviderRefusal(state: SessionState): state is ProviderRefusal {
  return typeof state === 'string' && state.startsWith('provider-');
}

function useIdentityProvider(): IdentityProvider | null {
  const [provider, setProvider] = useState<IdentityProvider | null>(null);
  useEffect(() => {
    let isShown = true;
    void identityProvider().then((found) => {
      if (isShown) setProvider(found);
    });
    return () => {
      isShown = false;
    };
  }, []);
  return provider;
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
