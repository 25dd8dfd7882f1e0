import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { expect } from 'vitest'
import { type RunOptions, test as withCli } from './cli.ts'
import { listen } from './listen.ts'

/** Responds to a request, or leaves it open. */
export type Answer = (response: ServerResponse, request: IncomingMessage) => void

/**
 * A vitest test with a platform on a loopback port that gives responses in turn and repeats the last one; it fails if a run
 * against it prints its API key.
 */
export const test = withCli.extend('platform', async ({ cli }, { onCleanup }) => {
  /** Method and path of each request so far. */
  const requests: string[] = []
  const headers: IncomingHttpHeaders[] = []
  let answers: Answer[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    headers.push(request.headers)
    request.resume()
    const [next] = answers.length > 1 ? answers.splice(0, 1) : answers
    next?.(response, request)
  })
  const { url, close } = await listen(server)
  onCleanup(close)
  const env = { LEARNCTL_URL: url, LEARNCTL_API_KEY: 'the-key' }
  return {
    url,
    requests,
    headers,
    answer: (...given: Answer[]) => {
      answers = given
    },
    run: async (line: string, options?: RunOptions) => {
      const ran = await cli.run(line, { ...options, env })
      expect(ran.stdout + ran.stderr).not.toContain('the-key')
      return ran
    },
  }
})

/** Returns a JSON response. */
export const json =
  (status: number, body: string, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)

/** Headers that only a server of this API sends. */
export const own = { 'preference-applied': 'handling=strict', 'x-request-id': 'req_0' }
