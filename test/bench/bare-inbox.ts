import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'

// Yardstick: node:http that stores each body as a row, and nothing else. The benchmark starts it.

const database = new DatabaseSync(process.argv[2] ?? '')
database.exec('pragma journal_mode = wal; pragma synchronous = normal')
database.exec(
  'create table deliveries (id text primary key, body text not null, received_at text not null) strict',
)
const insert = database.prepare('insert into deliveries (id, body, received_at) values (?, ?, ?)')
let made = 0

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString()
    const { type } = JSON.parse(body) as { type: string }
    made += 1
    insert.run(`whd_${made}`, body, new Date().toISOString())
    const answer = JSON.stringify({ status: 'applied', deliveryId: `whd_${made}`, type })
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(answer),
    })
    response.end(answer)
  })
})
server.listen(0, '127.0.0.1', () => {
  // A server that listens on a port has an address object.
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
process.on('SIGTERM', () => process.exit())
