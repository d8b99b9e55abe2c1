import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Configuration, Provider } from 'oidc-provider';

/** A real identity provider. A person who signs in with a name gets the claims that the test set for that name. */
export interface IdentityProviderUnderTest {
  readonly issuer: string;
  /** Claims by login. */
  readonly people: Map<string, Readonly<Record<string, unknown>>>;
  close(): Promise<void>;
}

export const CLIENT_ID = 'call-analysis';
export const CLIENT_SECRET = 'a secret of the identity provider';

/** Knows one client, with this address to come back to. */
export async function startIdentityProvider(redirectUri: string): Promise<IdentityProviderUnderTest> {
  const people = new Map<string, Readonly<Record<string, unknown>>>();
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const configuration: Configuration = {
    clients: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub'], profile: ['name'], work: ['firm', 'groups', 'extensions'] },
    scopes: ['openid', 'profile', 'work'],
    cookies: { keys: ['a key of cookies'] },
    pkce: { required: () => true },
    findAccount: (_context, login) => ({ accountId: login, claims: () => ({ sub: login, ...people.get(login) }) }),
  };
  server.on('request', new Provider(issuer, configuration).callback());
  return { issuer, people, close: () => closed(server) };
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

/**
 * A browser as far as a sign-in needs one: it keeps cookies by path, follows redirects and submits the provider's
 * forms.
 */
export class Browser {
  readonly #cookies = new Map<string, { readonly path: string; readonly value: string }>();

  async get(url: string): Promise<Response> {
    return this.#send(url, {});
  }

  /** Follows redirects to the first page that is not one, or that `until` accepts. */
  async follow(url: string, until: (url: URL) => boolean = () => false): Promise<{ url: URL; response: Response }> {
    let at = new URL(url);
    let response = await this.get(at.href);
    while (response.status >= 300 && response.status < 400) {
      at = new URL(response.headers.get('location') ?? '', at);
      if (until(at)) break;
      response = await this.get(at.href);
    }
    return { url: at, response };
  }

  /** Signs in at the provider's page and consents. Returns the address that the provider sends the browser back to. */
  async signIn(start: string, login: string, isBack: (url: URL) => boolean): Promise<URL> {
    let { url, response } = await this.follow(start, isBack);
    const forms: Record<string, string>[] = [{ prompt: 'login', login, password: 'any' }, { prompt: 'consent' }];
    for (const fields of forms) {
      if (isBack(url)) return url;
      const action = /action="([^"]+)"/.exec(await response.text())?.[1];
      if (action === undefined) throw new Error(`There is no form at ${url.href}.`);
      const submitted = await this.#send(new URL(action, url).href, { body: new URLSearchParams(fields) });
      ({ url, response } = await this.follow(new URL(submitted.headers.get('location') ?? '', url).href, isBack));
    }
    return url;
  }

  cookie(name: string): string | undefined {
    return this.#cookies.get(name)?.value;
  }

  async #send(url: string, { body }: { body?: URLSearchParams }): Promise<Response> {
    const { host, pathname } = new URL(url);
    const cookies = [...this.#cookies].filter(([, { path }]) => `${host}${pathname}`.startsWith(path));
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: cookies.map(([name, { value }]) => `${name.split(' ')[0]}=${value}`).join('; ') },
      ...(body !== undefined && { method: 'POST', body }),
    });
    for (const each of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
      const path = /; path=([^;]+)/i.exec(each)?.[1] ?? '/';
      if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, { path: `${host}${path}`, value });
    }
    return response;
  }
}
