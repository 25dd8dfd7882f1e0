import type { Transport } from '../../contract/http.ts'

/** The transport, and a wait for all that it is working on: a client that leaves does not end what it asked for. */
export function followed(transport: Transport): { handle: Transport; ended: () => Promise<void> } {
  const none = Promise.withResolvers<void>()
  let open = 0
  let isEnding = false
  return {
    async handle(request) {
      open += 1
      try {
        return await transport(request)
      } finally {
        open -= 1
        if (isEnding && open === 0) none.resolve()
      }
    },
    ended() {
      isEnding = true
      if (open === 0) none.resolve()
      return none.promise
    },
  }
}
