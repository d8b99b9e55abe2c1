import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useIsOnline, whenOnline } from '../api/connection.ts';
import { useLeaveQuestion } from '../drafts/leave-question.ts';
import * as format from '../i18n/format.ts';
import type en from '../i18n/shell/texts/en.json';
import { shellTexts } from '../i18n/texts.ts';
import { useInbox } from '../pages/inbox/use-inbox.ts';
import { may, type Right } from '../session/rights.ts';
import { useSessionState } from '../session/session.ts';
import { Toasts } from '../widgets/actions.tsx';
import { Button } from '../widgets/controls.tsx';
import { Confirmation } from '../widgets/dialog.tsx';
import { Icon, type IconName, Logo } from '../widgets/icon.tsx';
import { NoPage } from '../widgets/page.tsx';
import { FIND_KEYS, useKeys } from '../widgets/use-keys.ts';
import { useArrival } from './arrival.ts';
import { Preferences } from './preferences.tsx';
import { SignIn } from './sign-in.tsx';
import { useFirmZone, ZoneChoice } from './zone-choice.tsx';

/** Loaded after the first page, so that what is typed right after its keys is not lost. */
const LATER_MS = 3_000;
const loadFind = () => whenOnline(() => import('./find/find-dialog.tsx'));
const FindDialog = lazy(loadFind);
const KeyHelp = lazy(() => whenOnline(() => import('./key-help.tsx')));

interface NavigationEntry {
  readonly to: string;
  /** Its name in i18n/shell/texts. */
  readonly text: Extract<keyof typeof en, `nav.${string}`>;
  readonly icon: IconName;
  /** Absent: every role has it. */
  readonly right?: Right;
}

/** The pages in the navigation, in its order. */
const navigation: readonly NavigationEntry[] = [
  { to: '/calls', text: 'nav.calls', icon: 'calls' },
  { to: '/inbox', text: 'nav.inbox', icon: 'inbox' },
  { to: '/review', text: 'nav.review', icon: 'review', right: 'review' },
  { to: '/calibrations', text: 'nav.calibrations', icon: 'columns', right: 'review' },
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
  const [dialog, setDialog] = useState<'find' | 'keys' | null>(null);
  const isTheirs = ({ right }: NavigationEntry) => right === undefined || (role !== null && may(role, right));
  const isClosed = navigation.some((entry) => entry.to === page && !isTheirs(entry));
  useEffect(() => setOpen(false), [path]);
  useArrival(main);
  useLeaveQuestion();
  const firmZone = useFirmZone();
  useKeys({
    '/': () => {
      const field = main.current?.querySelector<HTMLInputElement>('[role=search] input');
      if (field === null || field === undefined) setDialog('find');
      else field.focus();
    },
    '?': () => setDialog('keys'),
  });
  useFindKeys(() => setDialog('find'));
  useEffect(() => {
    const timer = setTimeout(() => void loadFind().catch(() => {}), LATER_MS);
    return () => clearTimeout(timer);
  }, []);
  const pages = navigation.filter(isTheirs).map(({ to, text, icon }) => ({ to, name: t(text), icon }));
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
          <span className="side-text">{t('product')}</span>
        </Link>
        <Button
          icon={isOpen ? 'close' : 'menu'}
          kind="quiet"
          label={t('menu')}
          className="menu-button"
          aria-expanded={isOpen}
          aria-controls="side-body"
          onClick={() => setOpen(!isOpen)}
        />
        <div id="side-body" className="side-body" data-open={isOpen}>
          <button type="button" className="find-button" title={t('find')} onClick={() => setDialog('find')}>
            <Icon name="search" />
            <span className="side-text">{t('find')}</span>
            <kbd aria-hidden="true">{FIND_KEYS}</kbd>
          </button>
          <nav className="nav" aria-label={t('navigation')}>
            {pages.map(({ to, name, icon }) => (
              <Link key={to} to={to} title={name} activeProps={{ 'aria-current': 'page' }}>
                <Icon name={icon} />
                <span className="side-text">{name}</span>
                {to === '/inbox' && <InboxCount />}
              </Link>
            ))}
          </nav>
          <Preferences onKeys={() => setDialog('keys')} />
        </div>
      </header>
      <main id="main" className="main" ref={main} tabIndex={-1}>
        <Connection />
        {isClosed ? <NoPage why="notYours" /> : <Outlet />}
        {/* The dashboard has a choice of its own, which is part of its address. */}
        {!path.endsWith('/dashboard') && <ZoneChoice firmZone={firmZone} />}
      </main>
      <Toasts />
      <Confirmation />
      {dialog === 'find' && (
        <Suspense>
          <FindDialog pages={pages} onClose={() => setDialog(null)} />
        </Suspense>
      )}
      {dialog === 'keys' && (
        <Suspense>
          <KeyHelp onClose={() => setDialog(null)} />
        </Suspense>
      )}
    </div>
  );
}

/** Opens the search over everything by Ctrl or ⌘ and K, also while the person types. */
function useFindKeys(open: () => void): void {
  const latest = useRef(open);
  useEffect(() => {
    latest.current = open;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== 'k')
        return;
      event.preventDefault();
      if (document.querySelector('dialog[open]') === null) latest.current();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

/** How much waits for the person. */
function InboxCount() {
  const t = shellTexts.use();
  const { count = 0 } = useInbox(1);
  if (count === 0) return null;
  return (
    <span className="badge badge-accent nav-count">
      <span aria-hidden="true">{format.number(count)}</span>
      <span className="visually-hidden">{t('waiting', { n: count, count: format.number(count) })}</span>
    </span>
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
