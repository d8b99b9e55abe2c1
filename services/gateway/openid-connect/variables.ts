import { Uuid } from '@call-analysis/events';
import { ConfigFault } from '@call-analysis/runtime';
import { z } from 'zod';
import { Role } from '../authentication/caller.ts';

/** How people sign in by an identity provider, and who they are here. */
export interface OpenIdSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The provider's name on the sign-in page. */
  readonly name: string;
  readonly scope: string;
  /** The firm of everyone who signs in, or the claim that has a person's firm. */
  readonly firm: { readonly uuid: string } | { readonly claim: string };
  /** Null: everyone who signs in is an ADMIN of the firm. */
  readonly roles: { readonly claim: string; readonly byValue: ReadonlyMap<string, Role> } | null;
  /** The claim with the operator ids of an OPERATOR. Null: an ADMIN of the firm sets them. */
  readonly operatorIdsClaim: string | null;
}

const VALUE_AND_ROLE = /^(.+)=([A-Z_]+)$/;

export const OpenIdVariables = z.object({
  OIDC_ISSUER: z
    .url({ protocol: /^https?$/ })
    .refine(isProtected, 'must be an https address, except on loopback')
    .optional()
    .meta({
      description: 'The address of the identity provider (OpenID Connect) that signs people in to the console.',
    }),
  OIDC_CLIENT_ID: z.string().optional().meta({ description: 'The id of this service at the identity provider.' }),
  OIDC_CLIENT_SECRET: z
    .string()
    .optional()
    .meta({ description: 'The secret of this service at the identity provider.', secret: true }),
  OIDC_NAME: z.string().optional().meta({
    description: 'The name of the identity provider on the sign-in page.',
    defaultText: 'the host of OIDC_ISSUER',
  }),
  OIDC_SCOPES: z
    .string()
    .default('openid profile')
    .refine((scopes) => scopes.split(' ').includes('openid'), 'must include openid')
    .meta({ description: 'The scopes to request from the identity provider, separated by spaces.' }),
  OIDC_FIRM: z
    .string()
    .refine((text) => Uuid.safeParse(text).success, 'must be the uuid of a firm')
    .toLowerCase()
    .optional()
    .meta({ description: 'The uuid of the firm of all people who sign in through the identity provider.' }),
  OIDC_FIRM_CLAIM: z
    .string()
    .optional()
    .meta({ description: "Instead of OIDC_FIRM: the claim with the uuid of a person's firm." }),
  OIDC_ROLE_CLAIM: z.string().optional().meta({
    description:
      "The claim with a person's role, or with a list, such as groups. Without it, everyone who signs in is an ADMIN.",
  }),
  OIDC_ROLES: z
    .string()
    .transform((text) => text.split(',').map((each) => each.trim()))
    .refine(
      (list) => list.every((each) => isRole(VALUE_AND_ROLE.exec(each)?.[2])),
      `must be values of OIDC_ROLE_CLAIM with their roles, such as quality=ADMIN,platform=SUPERUSER`,
    )
    .optional()
    .meta({
      description:
        'Values of OIDC_ROLE_CLAIM with their roles: `quality=ADMIN,platform=SUPERUSER`. The first match counts.',
      defaultText: 'the names of the roles',
    }),
  OIDC_OPERATOR_IDS_CLAIM: z.string().optional().meta({
    description:
      'The claim with the operator ids of an OPERATOR, as text or a list. Without it, an ADMIN of the firm sets them.',
  }),
});

/** Undefined without OIDC_ISSUER. Throws ConfigFault when something is missing or contradicts something else. */
export function openIdFrom(variables: z.output<typeof OpenIdVariables>): OpenIdSettings | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = variables;
  const { OIDC_FIRM: uuid, OIDC_FIRM_CLAIM: firmClaim, OIDC_ROLE_CLAIM: roleClaim, OIDC_ROLES: roles } = variables;
  if (issuer === undefined) {
    const alone = (
      [
        'OIDC_CLIENT_ID',
        'OIDC_CLIENT_SECRET',
        'OIDC_FIRM',
        'OIDC_FIRM_CLAIM',
        'OIDC_ROLE_CLAIM',
        'OIDC_OPERATOR_IDS_CLAIM',
      ] as const
    ).find((each) => variables[each] !== undefined);
    if (alone !== undefined) throw new ConfigFault(`${alone} is set, so OIDC_ISSUER must be set too.`);
    return undefined;
  }
  if (clientId === undefined || clientSecret === undefined) {
    throw new ConfigFault('OIDC_ISSUER is set, so OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must be set too.');
  }
  if ((uuid === undefined) === (firmClaim === undefined)) {
    throw new ConfigFault('OIDC_ISSUER is set, so one of OIDC_FIRM and OIDC_FIRM_CLAIM must be set, and not both.');
  }
  if (roles !== undefined && roleClaim === undefined) {
    throw new ConfigFault('OIDC_ROLES is set, so OIDC_ROLE_CLAIM must be set too.');
  }
  return {
    issuer,
    clientId,
    clientSecret,
    name: variables.OIDC_NAME ?? new URL(issuer).host,
    scope: variables.OIDC_SCOPES,
    firm: uuid === undefined ? { claim: firmClaim ?? '' } : { uuid },
    operatorIdsClaim: variables.OIDC_OPERATOR_IDS_CLAIM ?? null,
    roles: roleClaim === undefined ? null : { claim: roleClaim, byValue: rolesByValue(roles) },
  };
}

function rolesByValue(list: readonly string[] | undefined): Map<string, Role> {
  const pairs = list?.map((each) => VALUE_AND_ROLE.exec(each)) ?? Role.options.map((role) => ['', role, role]);
  return new Map(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] as Role]));
}

function isRole(text: string | undefined): boolean {
  return Role.safeParse(text).success;
}

/** The provider decides who may sign in, so its responses must be protected on the way. */
function isProtected(address: string): boolean {
  if (!URL.canParse(address)) return true;
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
