/** An identity provider that publishes the keys of its tokens (JWKS). */
export interface IdentityProvider {
  /** The payload of a token, or undefined when no key of the provider signed it. Rejects with UNAVAILABLE. */
  open(token: string): Promise<unknown>;
}
