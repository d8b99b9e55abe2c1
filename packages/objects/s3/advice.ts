import type { S3Config } from './config.ts';
import { codeOf, isTemporary, TimeOut } from './failures.ts';
import { element } from './xml.ts';

/** Advice to the operator; null if the store merely does not respond. It never contains the secret key. */
export function adviceOn(error: unknown, { endpoint, bucket, region, pathStyle }: S3Config): string | null {
  const code = codeOf(error);
  const { hostname } = new URL(endpoint);
  const askedHost = pathStyle ? hostname : `${bucket}.${hostname}`;
  const store = `The object store at ${endpoint}`;
  switch (code) {
    case 'InvalidAccessKeyId':
    case 'XAdminUserNotFound':
      return `${store} does not know the access key. Check S3_ACCESS_KEY.`;
    case 'SignatureDoesNotMatch':
      return `${store} refuses the signature of the two keys. Check S3_SECRET_KEY and S3_ACCESS_KEY.`;
    case 'AccessDenied':
      return `${store} does not allow the access key to use the bucket "${bucket}". Allow it, or check S3_BUCKET and S3_ACCESS_KEY.`;
    case 'NoSuchBucket':
      return `${store} has no bucket "${bucket}". Create it, or set S3_CREATE_BUCKET to on, or check S3_BUCKET.`;
    case 'InvalidBucketName':
      return `${store} does not accept "${bucket}" as the name of a bucket. Check S3_BUCKET.`;
    case 'AuthorizationHeaderMalformed':
    case 'PermanentRedirect':
    case 'MovedPermanently':
    case 'IllegalLocationConstraintException':
    case 'InvalidLocationConstraint':
    case 'IncorrectEndpoint':
      return `${store} keeps the bucket "${bucket}" in another region than ${region}. Set S3_REGION${regionIn(error)}.`;
    case 'RequestTimeTooSkewed':
      return `${store} and this machine have different times. Set the clock.`;
    case 'ENOTFOUND':
      return `There is no host ${askedHost}. Check S3_ENDPOINT${pathStyle ? '' : ', and whether S3_PATH_STYLE should be on'}.`;
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
      return `The server at ${endpoint} does not speak TLS. S3_ENDPOINT must begin with http:// for it.`;
    default:
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_/.test(code)) {
    return `${store} has a certificate that is not trusted (${code}). Name its authority in NODE_EXTRA_CA_CERTS.`;
  }
  if (isTemporary(error) || error instanceof TimeOut) return null;
  if (isAnswer(error) && code !== '') {
    return `${store} refuses the bucket "${bucket}" (${code}). Check S3_ENDPOINT, S3_BUCKET and S3_REGION.`;
  }
  // The answer is not XML, or not even HTTP.
  if (isAnswer(error) || code === 'NotS3' || code.startsWith('HPE_')) {
    return `The server at ${endpoint} does not answer like an S3 store. Check S3_ENDPOINT.`;
  }
  return null;
}

function isAnswer(error: unknown): boolean {
  return error instanceof Error && error.name === 'S3Error';
}

function regionIn(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  // The client does not decode the quotes of the XML.
  const named = /expecting (?:['"]|&[#\w]+;)([\w-]+)/.exec(message)?.[1] ?? element(message, 'Region');
  return named === undefined ? '' : ` to ${named}`;
}
