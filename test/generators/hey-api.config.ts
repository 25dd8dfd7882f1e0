import { defineConfig } from '@hey-api/openapi-ts'

export default defineConfig({
  input: './generated/openapi.json',
  output: './generated/hey-api',
  logs: { file: false, level: 'silent' },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
})
