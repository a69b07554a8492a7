"""The services: what participants and researchers may do. They decide; routes translate and storage keeps."""
