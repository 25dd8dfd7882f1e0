import { createServer } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { attributes } from './seed.ts'

// The yardstick: node:http and node:sqlite running the server's own statements, and nothing else: no key, no
// validation, no rate limit, no ids of requests, no log. Started by the benchmark with a database of its own.

const [path = '', port = '0'] = process.argv.slice(2)
const database = new DatabaseSync(path)
database.exec('pragma journal_mode = wal; pragma synchronous = normal; pragma foreign_keys = on')

const columns = `c.id, c.external_id, c.title, c.description, c.difficulty, c.status, c.attributes, c.managed_by,
  c.version, c.created_at, c.updated_at, c.published_at, c.archived_at`
const list =
  database.prepare(`select ${columns}, c.created_at as cursor_value, c.id as cursor_id from courses c
  order by c.created_at desc, c.id desc limit ?`)
const one = database.prepare(`select ${columns} from courses c where c.id = ?`)
const insert =
  database.prepare(`insert into courses (id, external_id, title, description, difficulty, status, attributes,
  managed_by, version, created_at, updated_at, published_at, archived_at)
  values (?, null, ?, ?, ?, 'draft', ?, null, 1, ?, ?, null, null)`)
const keep =
  database.prepare(`insert into course_versions (course_id, version, attributes, modified_attributes, user_id,
  created_at) values (?, 1, ?, '[]', 'usr_bench', ?)`)

type Row = Record<string, unknown>

function toCourse(row: Row): Row {
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
  }
}

let made = 0

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    const body = JSON.stringify({
      data: (list.all(21) as Row[]).slice(0, 20).map(toCourse),
      nextCursor: null,
    })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    response.end(body)
    return
  }
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { title, description, difficulty } = JSON.parse(Buffer.concat(chunks).toString()) as Record<
      string,
      string
    >
    made += 1
    const id = `crs_${Date.now().toString(36)}${made}`
    const now = new Date().toISOString()
    database.exec('begin immediate')
    insert.run(id, title ?? '', description ?? '', difficulty ?? '', attributes, now, now)
    const course = toCourse(one.get(id) as Row)
    keep.run(id, JSON.stringify(course), now)
    database.exec('commit')
    const body = JSON.stringify(course)
    response.writeHead(201, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    response.end(body)
  })
})

server.listen(Number(port), '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address) process.stdout.write(`http://127.0.0.1:${address.port}\n`)
})
process.on('SIGTERM', () => server.close())
