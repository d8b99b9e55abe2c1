import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useIsOnline } from '../api/connection.ts';
import { LeaveQuestion } from '../drafts/leave-question.tsx';
import { may, type Right } from '../session/rights.ts';
import { useSessionState } from '../session/session.ts';
import { Icon, type IconName } from '../widgets/icon.tsx';
import { State } from '../widgets/states.tsx';
import { Toasts } from '../widgets/toasts.tsx';
import { Logo } from './logo.tsx';
import { Preferences } from './preferences.tsx';
import { shellTexts } from './shell-texts.ts';
import { SignIn } from './sign-in.tsx';
import type en from './texts/en.json';

interface NavigationEntry {
  readonly to: string;
  /** Its name in app/texts. */
  readonly text: Extract<keyof typeof en, `nav.${string}`>;
  readonly icon: IconName;
  /** Absent: every role has it. */
  readonly right?: Right;
}

/** The pages in the navigation, in its order. */
const navigation: readonly NavigationEntry[] = [
  { to: '/calls', text: 'nav.calls', icon: 'calls' },
  { to: '/review', text: 'nav.review', icon: 'review', right: 'review' },
  { to: '/dashboard', text: 'nav.dashboard', icon: 'dashboard' },
  { to: '/upload', text: 'nav.upload', icon: 'upload', right: 'process' },
  { to: '/scorecards', text: 'nav.scorecards', icon: 'scorecards', right: 'scorecards' },
  { to: '/settings', text: 'nav.settings', icon: 'settings', right: 'settings' },
];

/** The frame of every page: navigation, preferences, and the sign-in of a user who is not signed in. */
export function Shell() {
  const session = useSessionState();
  if (typeof session === 'string') return <SignIn state={session} />;
  return <Frame />;
}

function Frame() {
  const t = shellTexts.use();
  const session = useSessionState();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const [isOpen, setOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const page = useRouterState({ select: ({ matches }) => matches.at(-1)?.routeId });
  const role = typeof session === 'string' ? null : session.role;
  const isTheirs = ({ right }: NavigationEntry) => right === undefined || (role !== null && may(role, right));
  const isClosed = navigation.some((entry) => entry.to === page && !isTheirs(entry));
  useEffect(() => setOpen(false), [path]);
  return (
    <div className="shell">
      <a
        className="skip-link"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {t('skip')}
      </a>
      <header className="side">
        <Link to="/" className="brand">
          <Logo />
          <span>{t('product')}</span>
        </Link>
        <button
          type="button"
          className="button button-quiet button-icon menu-button"
          aria-expanded={isOpen}
          aria-controls="side-body"
          aria-label={t('menu')}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? 'close' : 'menu'} />
        </button>
        <div id="side-body" className="side-body" data-open={isOpen}>
          <nav className="nav" aria-label={t('navigation')}>
            {navigation.filter(isTheirs).map(({ to, text, icon }) => (
              <Link key={to} to={to} activeProps={{ 'aria-current': 'page' }}>
                <Icon name={icon} />
                {t(text)}
              </Link>
            ))}
          </nav>
          <Preferences />
        </div>
      </header>
      <main id="main" className="main" ref={main} tabIndex={-1}>
        <Connection />
        {isClosed ? <NotYours /> : <Outlet />}
      </main>
      <Toasts />
      <LeaveQuestion />
    </div>
  );
}

/** In place of a page that the user's role does not have. */
function NotYours() {
  const t = shellTexts.use();
  return (
    <State isPage title={t('notYours.title')} text={t('notYours.text')}>
      <Link to="/" className="button">
        {t('notFound.back')}
      </Link>
    </State>
  );
}

/** Says on every page that the service does not respond. */
function Connection() {
  const t = shellTexts.use();
  const isOnline = useIsOnline();
  return (
    <div className="connection" role="status">
      {!isOnline && (
        <p>
          <strong>{t('failed.offline')}.</strong> {t('offline.trying')}
        </p>
      )}
    </div>
  );
}
