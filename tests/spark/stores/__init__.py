"""Warehouses in object stores.

s3_server     an S3 server on loopback: moto
azure_server  Azure's blobs on loopback: Azurite
gcs_server    Google Cloud Storage on loopback, a server of our own
faults        a proxy that injects faults
killing       drivers that are killed, on S3 and on a disk
racing        twelve drivers, each a process, that write the same version
test_faults   commits under answers that are errors, slow or lost
test_kills    small campaigns: killed drivers, racing drivers
test_other_clouds  the same warehouses in Google's and Azure's stores
test_publishing  views published at addresses in S3
test_s3       a warehouse on S3, from connecting to reopening, and twelve writers
test_sources_on_s3  Delta tables on S3 as sources
"""
