import type { Transport } from '../../contract/http.ts'
import { isOwnReply } from '../reply.ts'
import type { PlatformFile } from './platform-schema.ts'

/** Replies of a server of this API pass unchanged. Throws PlatformError for a response that is not as described. */
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

export function describedTransport(send: Transport, { auth }: PlatformFile): Transport {
  return async (request) => {
    const { authorization, ...headers } = request.headers
    if (!auth || authorization === undefined) return send(request)
    const credential = authorization.replace(/^Bearer /, '')
    const value = auth.scheme ? `${auth.scheme} ${credential}` : credential
    return send({ ...request, headers: { ...headers, [auth.header.toLowerCase()]: value } })
  }
}
