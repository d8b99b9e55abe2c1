import type en from '../app/texts/en.json';
import type { Role } from '../session/session.ts';
import type { IconName } from '../widgets/icon.tsx';

interface NavigationEntry {
  readonly to: string;
  /** Its name in app/texts. */
  readonly text: Extract<keyof typeof en, `nav.${string}`>;
  readonly icon: IconName;
  /** Absent: every role has it. */
  readonly roles?: readonly Role[];
}

/** The pages in the navigation, in its order. */
export const navigation: readonly NavigationEntry[] = [
  { to: '/calls', text: 'nav.calls', icon: 'calls' },
  { to: '/review', text: 'nav.review', icon: 'review' },
  { to: '/dashboard', text: 'nav.dashboard', icon: 'dashboard' },
  { to: '/upload', text: 'nav.upload', icon: 'upload' },
  { to: '/scorecards', text: 'nav.scorecards', icon: 'scorecards', roles: ['ADMIN'] },
  { to: '/settings', text: 'nav.settings', icon: 'settings' },
];
