import type { HttpBody, HttpRequest, HttpResponse, Transport } from '../../src/contract/http.ts'

/** Returns a `fetch` function that calls a transport. */
export function fetchOf(handle: Transport, address = '192.0.2.1'): (request: Request) => Promise<Response> {
  return async (request) => {
    const { status, headers, body } = await handle({
      method: request.method,
      url: request.url,
      headers: Object.fromEntries(request.headers),
      ...(request.body && { body: request.body as AsyncIterable<Uint8Array> }),
      address,
    })
    return new Response(body === null || typeof body === 'string' ? body : streamOf(body), {
      status,
      headers,
    })
  }
}

/** Returns a transport that calls a `fetch` function. */
export function transportOf(fetch: (request: Request) => Promise<Response> | Response): Transport {
  return async ({ method, url, headers, body }) =>
    answerOf(
      await fetch(new Request(url, { method, headers, ...(body !== undefined && { body: textIn(body) }) })),
    )
}

/** Converts a web response to that of a transport. */
export function answerOf({ status, headers, body }: Response): HttpResponse {
  return { status, headers: Object.fromEntries(headers), body: body as AsyncIterable<Uint8Array> | null }
}

/** Returns the body of a request of the program, which always sends text. */
function textIn(body: HttpBody | undefined): string {
  if (body === undefined || typeof body === 'string') return body ?? ''
  throw new TypeError('the program sends text')
}

/** Parses a form that the program sent. */
export function formIn(request: HttpRequest | undefined): URLSearchParams {
  return new URLSearchParams(textIn(request?.body))
}

function streamOf(body: Exclude<HttpBody, string>): ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> {
  if (body instanceof Uint8Array) return new Uint8Array(body)
  const iterator = body[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(Buffer.from(value as string))
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}

/** Makes a body that has begun, and whose last part arrives only when `end` is called. */
export function slowBody(text: string) {
  const bytes = Buffer.from(text)
  let end = () => {}
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes.subarray(0, 1))
      end = () => {
        controller.enqueue(bytes.subarray(1))
        controller.close()
      }
    },
  })
  return { stream, end }
}

/** Makes a request with a streaming body; the type of RequestInit lacks `duplex` (Fetch §5.4). */
export function slowRequest(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  { stream }: ReturnType<typeof slowBody>,
): Request {
  const init: RequestInit & { duplex: 'half' } = { method, headers, body: stream, duplex: 'half' }
  return new Request(url, init)
}
