/** The `:root` rules of the service's pages, which `vite.config.ts` hands over. */
declare module 'virtual:tokens.css';
declare module '*.css';

/** Trusted Types, where the browser has them. A text that passed a policy is used like any other. */
declare var trustedTypes:
  | {
      createPolicy(
        name: string,
        rules: { createHTML: (html: string) => string },
      ): { createHTML: (html: string) => string };
    }
  | undefined;
