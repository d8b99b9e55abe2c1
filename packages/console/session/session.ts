import type { components } from '@call-analysis/client/api-types';
import { createStore } from '../store.ts';

export type Role = components['schemas']['User']['role'];

export interface Session {
  readonly token: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  readonly userUuid: string;
  readonly firmUuid: string;
  readonly role: Role;
}

/** Why an identity provider did not sign a person in, as the service says it in the address. */
const PROVIDER_REFUSALS = ['expired', 'forbidden', 'unavailable'] as const;
type ProviderRefusal = `provider-${(typeof PROVIDER_REFUSALS)[number]}`;

/** `code-refused`: signed out, and the link that was opened had been used or was too old. */
export type SessionState = 'starting' | 'signed-out' | 'code-refused' | 'unreachable' | ProviderRefusal | Session;

/** The service, with the path that a proxy serves it under. */
export const SERVICE_URL = new URL('..', document.baseURI).href.replace(/\/$/, '');
const SESSION_URL = `${SERVICE_URL}/api/v1/session`;
/** A token that expires sooner is replaced before it is used. */
const SOON_MS = 60_000;

const state = createStore<SessionState>('starting');
let renewal: Promise<Renewal> | null = null;
/** Of the address, until the service has answered. */
let unusedCode: string | null = null;

type Renewal = 'renewed' | 'refused' | 'unreachable';

export function currentSession(): Session | null {
  const session = state.get();
  return typeof session === 'string' ? null : session;
}

export const useSessionState = state.use;

/** For components that are shown to signed-in users only. */
export function useSession(): Session {
  const current = useSessionState();
  if (typeof current === 'string') throw new Error('No one is signed in.');
  return current;
}

/** Signs in by the one-time code in the address, or by the cookie of an earlier sign-in. */
export async function startSession(): Promise<void> {
  const given = new URLSearchParams(location.hash.slice(1));
  const code = given.get('code') ?? unusedCode;
  unusedCode = code;
  const refusal = PROVIDER_REFUSALS.find((each) => each === given.get('refused'));
  if (code !== null || given.has('refused')) {
    // A code works once. It must not stay in the history.
    history.replaceState(history.state, '', location.pathname + location.search);
  }
  if (code !== null) {
    // Refused when it was used before, or is older than ten minutes.
    const accepted = await accept(await post(SESSION_URL, { code }));
    if (accepted !== 'unreachable') unusedCode = null;
    if (accepted !== 'refused') return;
  }
  if ((await renewSession()) !== 'refused') return;
  if (refusal !== undefined) state.set(`provider-${refusal}`);
  else state.set(code === null ? 'signed-out' : 'code-refused');
}

/** Whether the service responds, and not only a proxy before it. */
export async function isReachable(): Promise<boolean> {
  try {
    return (await fetch(`${SESSION_URL}/methods`, { cache: 'no-store' })).status < 500;
  } catch {
    return false;
  }
}

/** A new token for the cookie of the session. Several callers share one request. */
export function renewSession(): Promise<Renewal> {
  renewal ??= post(`${SESSION_URL}/refresh`, {})
    .then(accept)
    .finally(() => {
      renewal = null;
    });
  return renewal;
}

/** The token to send, renewed when it expires soon. Null when nobody is signed in. */
export async function bearerToken(): Promise<string | null> {
  const session = currentSession();
  if (session !== null && session.expiresAt - Date.now() < SOON_MS) await renewSession();
  return currentSession()?.token ?? null;
}

const partings = new Set<() => Promise<unknown>>();

/** Something to do before a person signs out, while the service still knows them. Returns what takes it back. */
export function beforeSignOut(act: () => Promise<unknown>): () => void {
  partings.add(act);
  return () => partings.delete(act);
}

/** Returns whether the session has ended: its cookie stays valid until the service has removed it. */
export async function signOut(): Promise<boolean> {
  await Promise.allSettled([...partings].map((act) => act()));
  const token = currentSession()?.token;
  const response = await fetch(SESSION_URL, {
    method: 'DELETE',
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  }).catch(() => null);
  if (response?.status !== 204 && response?.status !== 401) return false;
  become(null);
  state.set('signed-out');
  return true;
}

/** Of whom the console has data: also after their session has expired. */
let user: string | null = null;
const changes: (() => void)[] = [];

/** Something to forget once a person has signed out, or another has signed in. A session that expires changes no user. */
export function onUserChange(forget: () => void): void {
  changes.push(forget);
}

function become(next: string | null): void {
  if (user !== null && user !== next) for (const forget of changes) forget();
  user = next;
}

/** After the service has refused the token. */
export function endSession(): void {
  state.set('signed-out');
}

async function post(url: string, body: object): Promise<Response | null> {
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  } catch {
    return null;
  }
}

async function accept(response: Response | null): Promise<Renewal> {
  if (response === null || response.status >= 500 || response.status === 429) {
    // A user stays signed in while the service does not respond.
    if (currentSession() === null) state.set('unreachable');
    return 'unreachable';
  }
  if (!response.ok) {
    if (response.status === 401) state.set('signed-out');
    return 'refused';
  }
  const { token, expires_at } = (await response.json()) as { token: string; expires_at: string };
  const session = sessionOf(token, Date.parse(expires_at));
  // The cookie may be another user's, who has signed in in another tab.
  become(session.userUuid);
  state.set(session);
  return 'renewed';
}

/** The service checks the token at every request. Here its claims only decide what is shown. */
function sessionOf(token: string, expiresAt: number): Session {
  const payload = token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/');
  const { sub, firm, role } = JSON.parse(atob(payload)) as { sub: string; firm: string; role: Role };
  return { token, expiresAt, userUuid: sub, firmUuid: firm, role };
}

const DEFAULT: readonly Role[] = ['ADMIN', 'WORKFLOW_ENGINEER', 'SUPERUSER'];

/** What the console offers, by role. The service checks every request. */
const RIGHTS = {
  /** Upload calls, retry them, analyze them again and erase them. */
  process: DEFAULT,
  settings: DEFAULT,
  scorecards: ['ADMIN'],
  /** Review calls and comment on them, export them, and see how far people and the machine agree. */
  review: [...DEFAULT, 'REVIEWER'],
} as const satisfies Readonly<Record<string, readonly Role[]>>;

export type Right = keyof typeof RIGHTS;

export function may(role: Role, right: Right): boolean {
  const roles: readonly Role[] = RIGHTS[right];
  return roles.includes(role);
}

/** For components that are shown to signed-in users only. */
export function useMay(right: Right): boolean {
  return may(useSession().role, right);
}
