/** The default storage of oidc-provider; named explicitly, it does not warn about itself. */
declare module 'oidc-provider/lib/adapters/memory_adapter.js' {
  import type { AdapterConstructor } from 'oidc-provider'

  const adapter: AdapterConstructor
  export default adapter
}
