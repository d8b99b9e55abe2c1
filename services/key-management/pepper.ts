import { z } from 'zod';

/** The secret that API keys are hashed with. */
export const PepperVariables = z.object({
  API_KEY_PEPPER: z
    .string()
    .refine((pepper) => Buffer.byteLength(pepper) >= 32, 'must have at least 32 bytes')
    .meta({
      description:
        'The secret that API keys are hashed with, 32 bytes or more. Keys made under another one are unknown.',
    }),
  API_KEY_PEPPER_PREVIOUS: z
    .string()
    .refine((pepper) => Buffer.byteLength(pepper) >= 32, 'must have at least 32 bytes')
    .optional()
    .meta({
      description:
        'While API_KEY_PEPPER is changed: the one before. A key made under it is accepted, and stored under the new one when it is used.',
      secret: true,
    }),
});
