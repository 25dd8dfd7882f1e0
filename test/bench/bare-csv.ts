import { createReadStream } from 'node:fs'
import { parse } from 'csv-parse'

// Reads the CSV files of its arguments with csv-parse alone, and counts their records.

let count = 0
for (const path of process.argv.slice(2)) {
  const parser = createReadStream(path).pipe(parse())
  parser.on('readable', () => {
    while (parser.read() !== null) count += 1
  })
  await new Promise((resolve, reject) => parser.on('end', resolve).on('error', reject))
}
process.stdout.write(`${count}\n`)
