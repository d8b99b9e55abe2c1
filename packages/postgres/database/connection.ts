import { escapeIdentifier } from 'pg';

/** What pg needs to reach one schema: names without a schema then mean that schema's. */
export interface SchemaConnection {
  readonly connectionString: string;
  readonly options: string;
}

// How times are written down on their way, whatever the server, the database or the role is set to: Prisma drops the
// offset that PostgreSQL writes behind a time, and pg reads no style but this one.
const TIMES = '-c timezone=UTC -c datestyle=ISO';

/**
 * The URL's own `options` are kept and come first, so that the schema and the form of times win. They leave the URL,
 * because pg lets what the URL says overrule what the configuration says.
 */
export function schemaConnection(url: string, schema: string): SchemaConnection {
  const address = parseUrl(url);
  const searchPath = `-c search_path=${escapeOption(escapeIdentifier(schema))}`;
  const own = address.searchParams.get('options');
  address.searchParams.delete('options');
  return { connectionString: address.href, options: [...(own ? [own] : []), TIMES, searchPath].join(' ') };
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
