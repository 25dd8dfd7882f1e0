import { countGuards } from '../../codec/csv.ts'

/** Counts the records and the guarded places of a CSV as `csvRecord` writes it, a piece at a time. */
export class CsvCounter {
  /** Records (RFC 4180), including the header. */
  records = 0
  guarded = 0
  readonly #decoder = new TextDecoder()
  #rest = ''
  #inQuotes = false

  count(bytes: Uint8Array): void {
    const text = this.#rest + this.#decoder.decode(bytes, { stream: true })
    // A guard stands before what it guards, never at the end of a line.
    const end = text.lastIndexOf('\n') + 1
    this.#scan(text.slice(0, end))
    this.#rest = text.slice(end)
  }

  end(): void {
    this.#scan(this.#rest)
    // The last record may lack its line end (RFC 4180 §2).
    if (this.#rest !== '') this.records += 1
    this.#rest = ''
  }

  #scan(text: string): void {
    let isCellStart = !this.#inQuotes
    // Texts inside and outside of quotes alternate; nothing is outside between the two of a doubled quote.
    for (const [index, part] of text.split('"').entries()) {
      if (index > 0) this.#inQuotes = !this.#inQuotes
      if (this.#inQuotes) {
        if (part.includes("'")) this.guarded += countGuards(part, isCellStart)
        continue
      }
      for (let at = part.indexOf('\n'); at >= 0; at = part.indexOf('\n', at + 1)) this.records += 1
      if (part.includes("'")) {
        const cells = part.split(/,|\r?\n/)
        this.guarded += cells.reduce(
          (sum, cell, place) => sum + countGuards(cell, place > 0 || index === 0),
          0,
        )
      }
      isCellStart = part === '' ? index === 0 : true
    }
  }
}
