import { createServer, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { listen } from './listen.ts'

/** Options of a proxy that connects every host to a port of this machine. */
export interface ProxyOptions {
  /** Port of this machine that stands for every host. */
  readonly to: number
  /** Credentials that it requires, as `user:password`. */
  readonly credentials?: string
  /** Status that it sends to every CONNECT instead of connecting. */
  readonly refuses?: number
  /** True to leave every CONNECT without a response. */
  readonly isMute?: boolean
}

/** Starts an HTTP proxy: tunnels (RFC 9110 §9.3.6), and requests in absolute form. */
export async function startProxy({ to, credentials, refuses, isMute }: ProxyOptions) {
  /** `CONNECT academy.example:443`, `GET http://academy.example/v1/courses` */
  const requests: string[] = []
  const wanted = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`
  const statusFor = ({ method, url, headers }: IncomingMessage) => {
    requests.push(`${method} ${url}`)
    return wanted && headers['proxy-authorization'] !== wanted ? 407 : (refuses ?? 200)
  }
  const server = createServer((incoming, outgoing) => {
    const status = statusFor(incoming)
    if (status !== 200) return outgoing.writeHead(status).end()
    const { pathname, search } = new URL(incoming.url ?? '')
    const { method, headers } = incoming
    const onward = request(
      { host: '127.0.0.1', port: to, path: pathname + search, method, headers },
      (answer) => answer.pipe(outgoing.writeHead(answer.statusCode ?? 502, answer.headers)),
    )
    return incoming.pipe(onward)
  })
  server.on('connection', (socket) => {
    socket.on('error', () => {})
  })
  server.on('connect', (incoming, socket) => {
    const status = statusFor(incoming)
    if (isMute) return
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`)
    const onward = connect(to, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      onward.pipe(socket).pipe(onward)
    })
    onward.on('error', () => socket.destroy())
    return socket.on('close', () => onward.destroy())
  })
  const { port, close } = await listen(server)
  const host = `127.0.0.1:${port}`
  return {
    host,
    url: `http://${host}`,
    requests,
    close,
  }
}
