import { freePort } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type IdentityProviderUnderTest,
  startIdentityProvider,
} from '../../../services/gateway/test/identity-provider.ts';
import { newFirm } from '../test/client/new-firm.ts';
import { startSystemUnderTest, type SystemUnderTest } from '../test/system/system-under-test.ts';
import { launchChromium } from './test/console-page.ts';

describe('signing in by an identity provider', () => {
  let browser: Browser;
  let system: SystemUnderTest;
  let provider: IdentityProviderUnderTest;
  beforeAll(async () => {
    browser = await launchChromium();
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    provider = await startIdentityProvider(`${url}/api/v1/session/openid/callback`);
    system = await startSystemUnderTest({
      PORT: String(port),
      PUBLIC_URL: url,
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT_ID,
      OIDC_CLIENT_SECRET: CLIENT_SECRET,
      OIDC_NAME: 'Company login',
      OIDC_SCOPES: 'openid profile work',
      OIDC_FIRM_CLAIM: 'firm',
      OIDC_ROLE_CLAIM: 'groups',
      OIDC_ROLES: 'quality=ADMIN',
    });
    const { firmUuid } = await newFirm(system);
    provider.people.set('ann', { name: 'Ann Lee', firm: firmUuid, groups: ['quality'] });
    provider.people.set('bob', { name: 'Bob', firm: firmUuid, groups: ['staff'] });
  });
  afterAll(async () => {
    await browser?.close();
    await system?.stop();
    await provider?.close();
  });

  /** Presses the button of the sign-in page, and signs in at the provider's own pages. */
  async function signInAs(login: string, path = ''): Promise<Page> {
    const context = await browser.newContext({ locale: 'en' });
    const page = await context.newPage();
    await page.goto(`${system.url}/console/${path}`);
    await page.getByRole('link', { name: 'Sign in with Company login' }).click();
    await page.locator('input[name=login]').fill(login);
    await page.locator('input[name=password]').fill('any');
    await page.locator('button[type=submit]').click();
    await page.getByRole('button', { name: 'Continue' }).click();
    return page;
  }

  it('signs a person in by a click and out again', async () => {
    const page = await signInAs('ann');
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    await page.getByRole('link', { name: 'Scorecards', exact: true }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'Sign in with Company login' }).waitFor();
    await page.context().close();
  });

  it('comes back to the page that was opened', async () => {
    const page = await signInAs('ann', 'calls?segment_type=billing');
    await page.getByRole('button', { name: 'Segment type: billing' }).waitFor();
    await page.context().close();
  });

  it('shows a person without a role only whom to ask', async () => {
    const page = await signInAs('bob');
    await page.getByRole('alert').getByText('you have no access to this service').waitFor();
    expect(await page.getByRole('navigation', { name: 'Pages' }).count()).toBe(0);
    await page.context().close();
  });
});
