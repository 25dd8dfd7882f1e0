/** What oidc-provider keeps things in where nothing else is given; named, it does not warn of itself. */
declare module 'oidc-provider/lib/adapters/memory_adapter.js' {
  import type { AdapterConstructor } from 'oidc-provider'

  const adapter: AdapterConstructor
  export default adapter
}
