import type { HttpRequest, Transport } from '../../contract/http.ts'
import { isOwnReply } from '../reply.ts'
import type { PlatformFile } from './platform-schema.ts'

/**
 * Returns a transport of the contract for a platform of any kind: requests and replies are translated by the file, or by
 * the rules of the published form without one. Replies of a server of this API pass unchanged.
 *
 * Throws PlatformError for a response that neither describes.
 */
export function platformTransport(send: Transport, file: PlatformFile | null): Transport {
  return async (request) => {
    if (file === null && !/[?&]cursor=(https?%3A|learnctl%3Aunknown)/i.test(request.url)) {
      const reply = await send(request)
      if (isOwnReply(reply)) return reply
      return (await import('./platform.ts')).callPlatform(async () => reply, file, request)
    }
    return (await import('./platform.ts')).callPlatform(send, file, request)
  }
}

/** Returns a transport that sends requests as they are, with the credential and at the rate that the file describes. */
export function describedTransport(send: Transport, { auth, rate }: PlatformFile): Transport {
  const begun: number[] = []

  async function waitTurn({ signal }: HttpRequest): Promise<void> {
    if (!rate) return
    for (;;) {
      const [first = 0] = begun
      const waitMs = begun.length < rate.requests ? 0 : first + rate.seconds * 1000 - Date.now()
      if (waitMs <= 0) break
      const { setTimeout: delay } = await import('node:timers/promises')
      await delay(waitMs, undefined, signal ? { signal } : {})
    }
    begun.push(Date.now())
    if (begun.length > rate.requests) begun.shift()
  }

  return async (request) => {
    await waitTurn(request)
    const { authorization, ...headers } = request.headers
    if (!auth || authorization === undefined) return send(request)
    const credential = authorization.replace(/^Bearer /, '')
    const value = auth.scheme ? `${auth.scheme} ${credential}` : credential
    return send({ ...request, headers: { ...headers, [auth.header.toLowerCase()]: value } })
  }
}
