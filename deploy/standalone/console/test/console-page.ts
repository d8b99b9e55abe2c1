import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';
import { administrator, type Client, newFirm } from '../../test/client/new-firm.ts';
import type { SystemUnderTest } from '../../test/system/system-under-test.ts';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** WCAG 2.2 AA, and what axe-core counts as good practice. */
const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

export async function launchChromium(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM'] ?? PLACES.find((path) => existsSync(path));
  if (executablePath === undefined)
    throw new Error('There is no Chromium. Install it (Debian: apt install chromium), or name it in CHROMIUM.');
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

export interface ConsolePage {
  readonly client: Client;
  readonly page: Page;
  /** What the browser complained of: errors of scripts, and violations of the content security policy. */
  readonly complaints: readonly string[];
  /** The faults that axe-core finds in both themes. */
  accessibilityFaults(): Promise<string[]>;
  close(): Promise<void>;
}

/** A new user, of a firm of its own unless one is named, signed in to the console by a one-time link. */
export async function openConsole(
  system: SystemUnderTest,
  browser: Browser,
  options: { role?: string; operatorIds?: string[]; firm?: string; name?: string } = {},
): Promise<ConsolePage> {
  const { name, ...rest } = options;
  const client = await newFirm(system, rest);
  if (name !== undefined) await client.call('PATCH', `/api/v1/users/${client.userUuid}`, { name });
  const admin = administrator(system.administration);
  const found = await admin.signInLink(client.userUuid, system.url).finally(() => admin.close());
  const context = await browser.newContext({ locale: 'en', timezoneId: 'Asia/Tashkent' });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) complaints.push(message.text());
  });
  await page.goto(found!.link);
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  return {
    client,
    page,
    complaints,
    async accessibilityFaults() {
      const faults: string[] = [];
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await page.evaluate(readFileSync(AXE, 'utf8'));
        let found: string[] = [];
        // On a busy machine, some elements still have colours of the other scheme.
        for (let tries = 0; tries < TRIES && (tries === 0 || found.length > 0); tries++) {
          await page.evaluate(nextFrame);
          found = await page.evaluate(findFaults, AXE_TAGS);
        }
        faults.push(...found.map((fault) => `${colorScheme}: ${fault}`));
      }
      return faults;
    },
    close: () => context.close(),
  };
}

/** Follows the navigation's link; the page that is shown may have one of the same name. */
export async function openPage(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();
}

const TRIES = 3;

/** Runs in the browser: the colours of another scheme are shown with the frame after the next. */
async function nextFrame(): Promise<void> {
  const { requestAnimationFrame } = globalThis as unknown as { requestAnimationFrame(done: () => void): void };
  for (let frames = 0; frames < 2; frames++)
    await new Promise<void>((resolve) => requestAnimationFrame(() => resolve()));
}

/** Runs in the browser. */
async function findFaults(tags: string[]): Promise<string[]> {
  interface Axe {
    run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
  }
  const { axe } = globalThis as unknown as { axe: Axe };
  const { violations } = await axe.run({ runOnly: tags });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id} ${html.slice(0, 200)}`));
}
