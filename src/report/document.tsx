import { raw } from 'hono/html'
import { Hatching } from './drawings.tsx'
import type { ReportFigures, ReportOptions } from './figures.ts'
import { formatsOf } from './format.ts'
import { Report, reportTitle } from './report.tsx'
import { documentStyle } from './style.ts'

export { wordLanguageOf } from './format.ts'

/** Allows the styles of the file, and nothing that runs or is loaded (CSP Level 3 §3.3). */
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/** Returns a report as an HTML file that needs no other files, no network and no scripts. */
export function reportDocument(figures: ReportFigures, options: ReportOptions): string {
  const html = (
    <html lang={formatsOf(options.language).language}>
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content={policy} />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>{reportTitle(figures, options)}</title>
        <style>{raw(documentStyle)}</style>
      </head>
      <body>
        <Hatching />
        <main>
          <Report figures={figures} options={options} />
        </main>
      </body>
    </html>
  )
  return `<!DOCTYPE html>\n${html}\n`
}
