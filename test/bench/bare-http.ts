import { createServer } from 'node:http'

export type Row = Record<string, unknown>

/** Work of a bare server, on any database. */
export interface Work {
  list(): Row | Promise<Row>
  get(id: string): Row | Promise<Row>
  create(body: Row): Row | Promise<Row>
  setProgress(learnerId: string, body: Row): Row | Promise<Row>
}

/** Columns of a course, from `courses c`. */
export const courseColumns = `c.id, c.external_id, c.title, c.description, c.difficulty, c.status, c.attributes,
  c.managed_by, c.version, c.created_at, c.updated_at, c.published_at, c.archived_at, c.created_by`

/** Returns a course as the API shows it, from its row. */
export function toCourse(row: Row): Row {
  return {
    id: row['id'],
    externalId: row['external_id'],
    title: row['title'],
    description: row['description'],
    difficulty: row['difficulty'],
    ...(JSON.parse(String(row['attributes'])) as Row),
    managedBy: row['managed_by'],
    status: row['status'],
    version: row['version'],
    createdAt: row['created_at'],
    updatedAt: row['updated_at'],
    publishedAt: row['published_at'],
    archivedAt: row['archived_at'],
    createdBy: row['created_by'],
  }
}

/**
 * Serves work with node:http and nothing else: no key, no validation, no rate limit, no request ids, no log. Prints its
 * address, and ends on SIGTERM.
 */
export function serveBare(work: Work, port: number, close: () => void = () => undefined): void {
  const server = createServer((request, response) => {
    const [, , , id = ''] = request.url?.split('/') ?? []
    const answer = (status: number, made: Row | Promise<Row>) => {
      // Synchronous results are sent at once.
      if (made instanceof Promise) made.then((value) => write(status, value), fail)
      else write(status, made)
    }
    const write = (status: number, value: Row) => {
      const body = JSON.stringify(value)
      response.writeHead(status, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      })
      response.end(body)
    }
    const fail = (error: unknown) => write(500, { detail: String(error) })
    if (request.method === 'GET') {
      answer(200, id === '' ? work.list() : work.get(id))
      return
    }
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Row
      if (request.method === 'POST') answer(201, work.create(body))
      else answer(200, work.setProgress(id, body))
    })
  })

  server.listen(port, '127.0.0.1', () => {
    const address = server.address()
    if (typeof address === 'object' && address) process.stdout.write(`http://127.0.0.1:${address.port}\n`)
  })
  process.on('SIGTERM', () => server.close(close))
}
