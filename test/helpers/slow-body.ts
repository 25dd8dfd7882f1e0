/** A body of which the last part comes only when `end` is called. */
export interface SlowBody {
  readonly stream: ReadableStream<Uint8Array>
  readonly end: () => void
}

/** A body that has begun, and waits. */
export function slowBody(text: string): SlowBody {
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

/** A request with a body that streams, which the types of the web leave out a word for (Fetch §5.4). */
export function slowRequest(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  { stream }: SlowBody,
): Request {
  const init: RequestInit & { duplex: 'half' } = { method, headers, body: stream, duplex: 'half' }
  return new Request(url, init)
}
