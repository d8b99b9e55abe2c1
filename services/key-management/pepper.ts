import { z } from 'zod';

const Pepper = z.string().refine((pepper) => Buffer.byteLength(pepper) >= 32, 'must have at least 32 bytes');

/** The secret that API keys are hashed with, and those that count as well while it is changed. */
export const PepperVariables = z.object({
  API_KEY_PEPPER: Pepper.meta({
    description: 'The secret for hashing API keys, 32 bytes or more. Keys made under another secret are unknown.',
  }),
  API_KEY_PEPPER_NEXT: Pepper.optional().meta({
    description:
      'Before a change of API_KEY_PEPPER: the new secret. Its keys are accepted, so that processes that have the new secret already can make some.',
    secret: true,
  }),
  API_KEY_PEPPER_PREVIOUS: Pepper.optional().meta({
    description:
      'During a change of API_KEY_PEPPER: the previous secret. Its keys are accepted, and rehashed under the new secret when they are used.',
    secret: true,
  }),
});

/** Keys stored under one pepper are unknown under any other. */
export interface Peppers {
  readonly pepper: string;
  /** The pepper before, while it is changed. */
  readonly previousPepper?: string | undefined;
  /** The pepper that other processes may have already. */
  readonly nextPepper?: string | undefined;
}

export function peppersFrom(variables: Partial<z.output<typeof PepperVariables>>) {
  return {
    pepper: variables.API_KEY_PEPPER,
    previousPepper: variables.API_KEY_PEPPER_PREVIOUS,
    nextPepper: variables.API_KEY_PEPPER_NEXT,
  };
}
