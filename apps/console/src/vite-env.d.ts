/** The `:root` rules of the service's pages, which `vite.config.ts` hands over. */
declare module 'virtual:tokens.css';
declare module '*.css';
