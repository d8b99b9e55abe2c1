import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { administrator } from '../../test/client/new-firm.ts';
import type { SystemUnderTest } from '../../test/system/system-under-test.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Service = Pick<SystemUnderTest, 'url' | 'administration'>;

export interface Visit {
  readonly page: Page;
  /** Errors of scripts, of the console, and violations of the content security policy. */
  readonly problems: readonly string[];
  close(): Promise<void>;
}

/** A window of its own, signed in as the user by a one-time link. */
export async function visit(
  browser: Browser,
  service: Service,
  userUuid: string,
  { path = '/console/', theme = 'light', ...options }: { path?: string; theme?: string } & BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, locale: 'en-US', ...options });
  const problems: string[] = [];
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('dialog', (dialog) => {
    problems.push(`A dialog opened: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.addInitScript((chosen) => localStorage.setItem('console.theme', chosen), theme);
  const link = new URL(await signInLink(service, userUuid));
  await page.goto(`${service.url}${path}${link.hash}`);
  return { page, problems, close: () => context.close() };
}

export async function signInLink(service: Service, userUuid: string): Promise<string> {
  const admin = administrator(service.administration);
  try {
    return (await admin.signInLink(userUuid, service.url))!.link;
  } finally {
    admin.close();
  }
}

interface AxeResult {
  violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[];
}

/** What axe-core finds on the page by the rules of WCAG 2.2 AA, one line for each element. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  const result = (await page.evaluate(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations'] })`,
  )) as AxeResult;
  return result.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${help}: ${html.slice(0, 160)} ${failureSummary}`),
  );
}

/** How much wider the page is than its window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - innerWidth');
}

/** The words in headings of tables that stand on two lines. */
export function brokenHeadings(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`[...document.querySelectorAll('th, [role=columnheader]')].flatMap((heading) => {
    const walker = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT);
    const broken = [];
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
      for (const { 0: word, index } of node.data.matchAll(/\\S+/g)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.push(word);
      }
    return broken;
  })`);
}
