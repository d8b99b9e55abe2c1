import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState, type RefObject } from 'react';
import { get } from '../api/client.ts';
import { useIsOnline, whenOnline } from '../api/connection.ts';
import { useLeaveQuestion } from '../drafts/drafts.ts';
import * as format from '../i18n/format.ts';
import type en from '../i18n/shell/texts/en.json';
import { shellTexts } from '../i18n/texts.ts';
import { may, type Right, useSession, useSessionState } from '../session/session.ts';
import { Toasts } from '../widgets/actions.tsx';
import { Button } from '../widgets/controls.tsx';
import { Confirmation } from '../widgets/dialog.tsx';
import { Icon, type IconName, Logo } from '../widgets/icon.tsx';
import { later } from '../widgets/later.tsx';
import { NoPage } from '../widgets/page.tsx';
import { FIND_KEYS, useEvents, useKeys } from '../widgets/use-events.ts';
import { KeyHelp, Preferences, useFirmZone, ZoneChoice } from './preferences.tsx';
import { SignIn } from './sign-in.tsx';

/** Loaded after the first page, so that what is typed right after its keys is not lost. */
const LATER_MS = 3_000;
const INBOX_MS = 30_000;
const loadFind = () => import('./find-dialog.tsx');
const FindDialog = later(loadFind);

interface NavigationEntry {
  readonly to: string;
  /** Its name in i18n/shell/texts. */
  readonly text: Extract<keyof typeof en, `nav.${string}`>;
  readonly icon: IconName;
  /** Absent: every role has it. */
  readonly right?: Right;
}

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
  // Nothing that a page remembers is left to the next user.
  return <Frame key={session.userUuid} />;
}

function Frame() {
  const t = shellTexts.use();
  const { role } = useSession();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const [isOpen, setOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const page = useRouterState({ select: ({ matches }) => matches.at(-1)?.routeId });
  const [dialog, setDialog] = useState<'find' | 'keys' | null>(null);
  const isTheirs = ({ right }: NavigationEntry) => right === undefined || may(role, right);
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
  // Also while the person types.
  useEvents<KeyboardEvent>(window, ['keydown'], (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== 'k') return;
    event.preventDefault();
    if (document.querySelector('dialog[open]') === null) setDialog('find');
  });
  useEffect(() => {
    const timer = setTimeout(() => void whenOnline(loadFind).catch(() => {}), LATER_MS);
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
      {dialog === 'find' && <FindDialog pages={pages} onClose={() => setDialog(null)} />}
      {dialog === 'keys' && <KeyHelp onClose={() => setDialog(null)} />}
    </div>
  );
}

/** How much waits for the person. */
function InboxCount() {
  const t = shellTexts.use();
  const query = { page: 1, size: 1 };
  const inbox = useQuery({
    ...get(['inbox', query], '/api/v1/inbox', { query }),
    refetchInterval: INBOX_MS,
    staleTime: 0,
  });
  const { count = 0 } = inbox.data ?? {};
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

/**
 * After a navigation the focus moves to the heading of the new page, as soon as there is one, so that screen readers read it
 * out and the next Tab begins there. A focus that the person has moved meanwhile stays.
 */
function useArrival(main: RefObject<HTMLElement | null>): void {
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const shown = useRef<string | undefined>(undefined);
  useEffect(() => {
    const isFirst = shown.current === undefined;
    if (path === undefined || path === shown.current) return;
    shown.current = path;
    const page = main.current;
    if (isFirst || page === null) return;
    const arrive = () => {
      const heading = page.querySelector('h1');
      if (heading === null) return;
      observer.disconnect();
      const { activeElement } = document;
      if (activeElement !== null && activeElement !== page && page.contains(activeElement)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
    };
    const observer = new MutationObserver(arrive);
    observer.observe(page, { childList: true, subtree: true });
    arrive();
    return () => observer.disconnect();
  }, [main, path]);
}
