import { escapeIdentifier } from 'pg';

/** What pg needs to reach one schema: names without a schema then mean that schema's. */
export interface SchemaConnection {
  readonly connectionString: string;
  readonly options: string;
}

/**
 * The URL's own `options` are kept and come first, so that the schema wins. They leave the URL, because pg lets
 * what the URL says overrule what the configuration says.
 */
export function schemaConnection(url: string, schema: string): SchemaConnection {
  const address = parseUrl(url);
  const searchPath = `-c search_path=${escapeOption(escapeIdentifier(schema))}`;
  const own = address.searchParams.get('options');
  address.searchParams.delete('options');
  return { connectionString: address.href, options: own ? `${own} ${searchPath}` : searchPath };
}

/** Reads a connection URL; an unreadable one is not quoted in the error, for it may hold a password. */
export function parseUrl(url: string): URL {
  const address = URL.parse(url);
  if (address === null || !/^postgres(?:ql)?:$/.test(address.protocol)) {
    throw new Error('A PostgreSQL URL has the form postgresql://user:password@host:port/database.');
  }
  return address;
}

// The server splits `options` at blanks unless a backslash precedes them.
function escapeOption(value: string): string {
  return value.replace(/[\\\s]/g, (character) => `\\${character}`);
}
