const STORED = 'console.address';
/** A sign-in that takes longer is another visit. */
const KEPT_MS = 60 * 60_000;

/** The path of the console: sign-in links and identity providers lead to it. */
const START = new URL(document.baseURI).pathname;

/**
 * Remembers the page that a person opened and that needs a sign-in, in the browser: a sign-in link may open another tab.
 * Returns whether there is one.
 */
export function keepAddress(): boolean {
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
  try {
    const stored = JSON.parse(localStorage.getItem(STORED) ?? '') as { address: unknown; at: unknown };
    const isRecent = typeof stored.at === 'number' && Date.now() - stored.at < KEPT_MS;
    // Only of the console: what is stored could lead elsewhere.
    const isOwn = typeof stored.address === 'string' && stored.address.startsWith(START);
    return isRecent && isOwn ? (stored.address as string) : null;
  } catch {
    return null;
  }
}
