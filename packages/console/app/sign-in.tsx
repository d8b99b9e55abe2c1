import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { untilReachable } from '../api/connection.ts';
import { shellTexts } from '../i18n/texts.ts';
import { identityProvider, type ProviderRefusal, type SessionState, startSession } from '../session/session.ts';
import { Button } from '../widgets/controls.tsx';
import { Logo } from '../widgets/icon.tsx';
import { useEvents } from '../widgets/use-events.ts';
import { LanguageChoice } from './preferences.tsx';
import { keepAddress } from './return-address.ts';

/** The page of a user who is not signed in: how to get a link, or that the service does not respond. */
export function SignIn({ state }: { state: Extract<SessionState, string> }) {
  const t = shellTexts.use();
  const { data: provider = null } = useQuery({ queryKey: ['identity-provider'], queryFn: identityProvider });
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
            {state === 'code-refused' && <p role="alert">{t('signIn.usedCode')}</p>}
            {isProviderRefusal(state) && <p role="alert">{t(`signIn.${state}`, { name: provider?.name ?? '' })}</p>}
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

function isProviderRefusal(state: SessionState): state is ProviderRefusal {
  return typeof state === 'string' && state.startsWith('provider-');
}
