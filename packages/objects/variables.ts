import { ConfigFault, type Environment, group, parseConfig, requiring, shared } from '@call-analysis/runtime';
import { z } from 'zod';
import type { S3Config } from './s3/config.ts';

const STORE = ['S3_ENDPOINT', 'S3_BUCKET', 'S3_ACCESS_KEY', 'S3_SECRET_KEY'] as const;

/** S3 refuses names that look like an IP address. */
const BUCKET_NAME = /^(?!\d+\.\d+\.\d+\.\d+$)(?!.*\.\.)[a-z\d][a-z\d.-]{1,61}[a-z\d]$/;

/** An S3-compatible store. The first four variables go together; without them there is no store. */
export const S3Variables = z.object({
  S3_ENDPOINT: origin()
    .optional()
    .meta({ description: 'URL of the S3-compatible object store, as the services reach it.' }),
  S3_BUCKET: z
    .string()
    .regex(BUCKET_NAME, 'must be a name of 3 to 63 small letters, digits, dots and hyphens')
    .optional()
    .meta({ description: 'Bucket that keeps recordings, uploads and long documents.' }),
  S3_ACCESS_KEY: z.string().optional().meta({ description: 'Access key of the object store.', secret: true }),
  S3_SECRET_KEY: z.string().optional().meta({ description: 'Secret key of the object store.' }),
  S3_PUBLIC_ENDPOINT: origin().optional().meta({
    description: 'URL of the object store in signed URLs, as clients reach it.',
    defaultText: '`S3_ENDPOINT`',
  }),
  S3_REGION: z
    .string()
    .regex(/^[\w-]+$/, 'must be the name of a region, such as eu-central-1')
    .default('us-east-1')
    .meta({ description: 'Region of the bucket.' }),
  S3_PATH_STYLE: onOff().meta({
    description: '`on`: the bucket is in the path of URLs; `off`: it is in their host name.',
  }),
  S3_CREATE_BUCKET: onOff().meta({
    description: '`on`: a missing bucket is created; `off`: the service does not start without it.',
  }),
  S3_CORS_ORIGINS: z
    .string()
    .transform((text) => text.split(',').map((each) => each.trim()))
    .refine(
      (list) => list.every((each) => each === '*' || isPage(each)),
      'must be origins with commas between them, such as https://example.com, or *',
    )
    .optional()
    .meta({
      description:
        'Origins whose pages may use signed URLs, separated by commas, or `*`. They become a CORS rule of the bucket; the access key must be allowed to set it. Without it, the rules of the bucket do not change.',
    }),
});

export type S3Variables = z.infer<typeof S3Variables>;

/** The same for a service in a process of its own, which shares the store with other services. */
export const RequiredS3Variables = requiring(S3Variables, STORE);

/** Undefined when no store is configured. ConfigFault when only some of its variables are set. */
export function s3From(variables: S3Variables): S3Config | undefined {
  const { S3_ENDPOINT: endpoint, S3_BUCKET: bucket, S3_ACCESS_KEY: accessKey, S3_SECRET_KEY: secretKey } = variables;
  const { S3_PUBLIC_ENDPOINT: publicEndpoint } = variables;
  group(Object.fromEntries(STORE.map((name) => [name, variables[name]])), STORE);
  if (endpoint === undefined || bucket === undefined || accessKey === undefined || secretKey === undefined) {
    if (publicEndpoint === undefined) return undefined;
    const rest = `${STORE.slice(0, -1).join(', ')} and ${STORE.at(-1)}`;
    throw new ConfigFault(`S3_PUBLIC_ENDPOINT is set, so ${rest} must be set too.`);
  }
  return {
    store: 's3',
    endpoint,
    publicEndpoint: publicEndpoint ?? endpoint,
    bucket,
    accessKey,
    secretKey,
    region: variables.S3_REGION,
    pathStyle: variables.S3_PATH_STYLE,
    createBucket: variables.S3_CREATE_BUCKET,
    ...(variables.S3_CORS_ORIGINS !== undefined && { corsOrigins: variables.S3_CORS_ORIGINS }),
  };
}

/** As `s3From`; ConfigFault also when no store is configured. */
export function requiredS3(env: Environment): S3Config {
  return shared(STORE, s3From(parseConfig(S3Variables, env)));
}

/** Only scheme, host and port: a signature covers the path, so no proxy may add to it. */
function origin() {
  return z
    .string()
    .refine(isOrigin, 'must be an http or https URL without a path, such as https://s3.example.com')
    .transform((text) => new URL(text).origin);
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, hash, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && pathname === '/' && `${search}${hash}${username}${password}` === '';
}

function isPage(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

function onOff() {
  return z
    .enum(['on', 'off'])
    .default('on')
    .transform((text) => text === 'on');
}
