import { EndpointInput } from '../../contract/endpoints.ts'
import { flagsOf } from './flags-of.ts'

/** The flags of a webhook endpoint's fields. */
export const fields = flagsOf(EndpointInput, {
  url: { name: 'to', placeholder: 'url' },
  events: { kind: 'words', placeholder: 'event,…', choicesTold: true },
  expiresAt: { time: 'future', never: true, default: 'never' },
})
